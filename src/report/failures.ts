import type { Delivery } from "../evidence/delivery.ts";
import type { Exchange } from "../evidence/exchange.ts";
import type { Case, ClauseGroup } from "./clause-groups.ts";
import { curlOf } from "./curl.ts";
import { deliveryLines, exchangeLines } from "./exchange-text.ts";
import type { ReportedWay } from "./report.ts";
import { againLines } from "./delivery-again.ts";
import { harmlessLine } from "../base/harmless.ts";
import { firstOf, labelled } from "../base/text.ts";
import { seenText } from "./seen-text.ts";
import type { Paint } from "../base/paint.ts";

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
  readonly way: ReportedWay | undefined;
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
  const [first, ...others] = group.cases;
  return [
    `${paint.bold(paint.red("FAIL"))}  ${paint.bold(group.clause)}  ${paint.dim(`${group.level} · ${group.section}`)}`,
    ...labelled(indent, group.says, width, paint.dim),
    ...caseLines(first, view),
    ...others.slice(0, mostCases).flatMap((each) => labelled(`${indent}also      `, brief(each), width, paint.dim)),
    ...(others.length > mostCases
      ? [`${indent}also      ${others.length - mostCases} more findings of this clause`]
      : []),
    ...proofBlock(group.clause, first, view, shown),
  ];
}

export function caseLines({ finding, instances }: Case, { width, paint }: FailureView): string[] {
  const row = (name: string, text: string): string[] =>
    labelled(`${indent}${name.padEnd(10)}`, harmlessLine(text, 600), width, paint.dim);
  return [
    ...row("expected", finding.expected ?? ""),
    ...row("actual", finding.actual ?? finding.reason ?? ""),
    ...(finding.seen === undefined || finding.seen.looked < 2 ? [] : row("seen", seenText(finding.seen))),
    ...(instances.length === 0
      ? []
      : row("with", `${instances.length === 1 ? "tier" : "tiers"} ${instances.join(", ")}`)),
  ];
}

/** One line: what was expected, what came, and where. */
export function brief({ finding, instances }: Case): string {
  const where = instances.length === 0 ? "" : ` (${firstOf(instances, 4)})`;
  const came = harmlessLine(finding.actual ?? finding.reason ?? "", 160);
  return `expected ${harmlessLine(finding.expected ?? "", 160)}; got ${came}${where}`;
}

/** The first delivery that the finding names, or else its first exchange. */
export function proofBlock(clause: string, { finding }: Case, view: FailureView, shown: Map<string, string>): string[] {
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
    ...commandLines(curlOf(exchange, view), view),
  ];
}

function deliveryBlock(delivery: Delivery, named: readonly Exchange[], view: FailureView): string[] {
  const again = againLines(delivery, named, view);
  return [
    ...deliveryLines(delivery, shortBodies).map((line) => `${indent}  ${painted(line, view.paint)}`),
    ...(again.length === 0 ? [] : [`${indent}${view.paint.dim("to see it again")}`]),
    ...again.flatMap((command) => commandLines(command, view)),
  ];
}

const commandLines = (command: string, { paint }: FailureView): string[] =>
  command.split("\n").map((line) => `${indent}  ${paint.cyan(line)}`);

const painted = (line: string, paint: Paint): string => (line.startsWith("<") ? line : paint.dim(line));
