import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { DistinctFinding, ClauseGroup } from "../model/clause-groups.ts";
import { curlCommand } from "../reproduce/curl.ts";
import { deliveryLines, exchangeLines } from "../model/exchange-text.ts";
import type { ReportedConnection } from "../model/report.ts";
import { reproductionCommands } from "../reproduce/delivery.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { joinFirst, formatLabelled } from "../../base/text.ts";
import { formatCoverage } from "../model/coverage-text.ts";
import type { Paint } from "../../base/paint.ts";

export interface FailureView {
  /** Exchanges by id. */
  readonly exchanges: ReadonlyMap<string, Exchange>;
  /** Deliveries by id. */
  readonly deliveries: ReadonlyMap<string, Delivery>;
  readonly width: number;
  readonly paint: Paint;
  readonly variableOf: (keyName: string) => string | undefined;
  readonly evidenceFile: string;
  /** How the target was reached; `undefined`: straight. */
  readonly way: ReportedConnection | undefined;
}

const indent = "      ";
const mostCases = 3;

/**
 * A broken clause in full: its sentence, what was expected and what came, the delivery or else the exchange that shows it, and
 * commands that show it again. What an earlier failure has shown is only named.
 *
 * @param shown clause under which each exchange and delivery was shown so far; this one is added
 */
export function failureLines(group: ClauseGroup, view: FailureView, shown: Map<string, string>): string[] {
  const { paint, width } = view;
  const [first, ...others] = group.distinctFindings;
  return [
    `${paint.bold(paint.red("FAIL"))}  ${paint.bold(group.clause)}  ${paint.dim(`${group.level} · ${group.section}`)}`,
    ...formatLabelled(indent, group.says, width, paint.dim),
    ...findingLines(first, view),
    ...others
      .slice(0, mostCases)
      .flatMap((each) => formatLabelled(`${indent}also      `, formatFindingBrief(each), width, paint.dim)),
    ...(others.length > mostCases
      ? [`${indent}also      ${others.length - mostCases} more findings of this clause`]
      : []),
    ...evidenceLines(group.clause, first, view, shown),
  ];
}

export function findingLines({ finding, instances }: DistinctFinding, { width, paint }: FailureView): string[] {
  const row = (name: string, text: string): string[] =>
    formatLabelled(`${indent}${name.padEnd(10)}`, sanitizeLine(text, 600), width, paint.dim);
  return [
    ...row("expected", finding.expected ?? ""),
    ...row("actual", finding.actual ?? finding.reason ?? ""),
    ...(finding.seen === undefined || finding.seen.looked < 2 ? [] : row("seen", formatCoverage(finding.seen))),
    ...(instances.length === 0
      ? []
      : row("with", `${instances.length === 1 ? "tier" : "tiers"} ${instances.join(", ")}`)),
  ];
}

/** One line: what was expected, what came, and where. */
export function formatFindingBrief({ finding, instances }: DistinctFinding): string {
  const where = instances.length === 0 ? "" : ` (${joinFirst(instances, 4)})`;
  const came = sanitizeLine(finding.actual ?? finding.reason ?? "", 160);
  return `expected ${sanitizeLine(finding.expected ?? "", 160)}; got ${came}${where}`;
}

/** The first delivery that the finding names, or else its first exchange. */
export function evidenceLines(
  clause: string,
  { finding }: DistinctFinding,
  view: FailureView,
  shown: Map<string, string>,
): string[] {
  const named = finding.evidence ?? [];
  const exchanges = named.flatMap((id) => view.exchanges.get(id) ?? []);
  const delivery = named.map((id) => view.deliveries.get(id)).find((each) => each !== undefined);
  const proof = delivery ?? exchanges[0];
  if (proof === undefined) return [];
  const word = delivery === undefined ? "exchange" : "delivery";
  const earlier = shown.get(proof.id);
  if (earlier !== undefined) return [`${indent}${word}  ${proof.id}, shown under ${earlier}`];
  shown.set(proof.id, clause);
  const more = named.length - 1;
  const name = `${proof.id}${more > 0 ? ` (and ${more} more in ${view.evidenceFile})` : ""}`;
  return [
    `${indent}${view.paint.dim(word)}  ${name}`,
    ...(delivery === undefined ? exchangeBlock(exchanges, view) : deliveryBlock(delivery, exchanges, view)),
  ];
}

const shortBodies = { bodyCharacters: 800, bodyLines: 16 } as const;

function exchangeBlock([exchange]: readonly Exchange[], view: FailureView): string[] {
  if (exchange === undefined) return [];
  return [
    ...exchangeLines(exchange, shortBodies).map((line) => `${indent}  ${painted(line, view.paint)}`),
    `${indent}${view.paint.dim("to send it again")}`,
    ...commandLines(curlCommand(exchange, view), view),
  ];
}

function deliveryBlock(delivery: Delivery, named: readonly Exchange[], view: FailureView): string[] {
  const again = reproductionCommands(delivery, named, view);
  return [
    ...deliveryLines(delivery, shortBodies).map((line) => `${indent}  ${painted(line, view.paint)}`),
    ...(again.length === 0 ? [] : [`${indent}${view.paint.dim("to see it again")}`]),
    ...again.flatMap((command) => commandLines(command, view)),
  ];
}

const commandLines = (command: string, { paint }: FailureView): string[] =>
  command.split("\n").map((line) => `${indent}  ${paint.cyan(line)}`);

const painted = (line: string, paint: Paint): string => (line.startsWith("<") ? line : paint.dim(line));
