import type { Exchange } from "../evidence/exchange.ts";
import type { Case, ClauseGroup } from "./clause-groups.ts";
import { curlOf } from "./curl.ts";
import { exchangeLines } from "./exchange-text.ts";
import { harmlessLine } from "./harmless.ts";
import { firstOf, labelled, type Paint } from "./layout.ts";

export interface FailureView {
  /** Exchanges by id. */
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly width: number;
  readonly paint: Paint;
  readonly variableOf: (keyName: string) => string | undefined;
  readonly evidenceFile: string;
}

const indent = "      ";
const mostCases = 3;

/**
 * A broken clause in full: its sentence, what was expected and what came, the exchange that shows it, and a command that sends
 * it again. An exchange that an earlier failure has shown is only named.
 *
 * @param shown clause under which each exchange was shown so far; this one is added
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
    ...exchangeBlock(group.clause, first, view, shown),
  ];
}

function caseLines({ finding, instances }: Case, { width, paint }: FailureView): string[] {
  const row = (name: string, text: string): string[] =>
    labelled(`${indent}${name.padEnd(10)}`, harmlessLine(text, 600), width, paint.dim);
  return [
    ...row("expected", finding.expected ?? ""),
    ...row("actual", finding.actual ?? finding.reason ?? ""),
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

function exchangeBlock(clause: string, { finding }: Case, view: FailureView, shown: Map<string, string>): string[] {
  const id = (finding.evidence ?? []).find((each) => view.exchanges.has(each));
  const exchange = id === undefined ? undefined : view.exchanges.get(id);
  if (exchange === undefined) return [];
  const earlier = shown.get(exchange.id);
  if (earlier !== undefined) return [`${indent}exchange  ${exchange.id}, shown under ${earlier}`];
  shown.set(exchange.id, clause);
  const more = (finding.evidence ?? []).length - 1;
  const { paint } = view;
  const name = `${exchange.id}${more > 0 ? ` (and ${more} more in ${view.evidenceFile})` : ""}`;
  return [
    `${indent}${paint.dim("exchange")}  ${name}`,
    ...exchangeLines(exchange, { bodyCharacters: 800, bodyLines: 16 }).map(
      (line) => `${indent}  ${painted(line, paint)}`,
    ),
    `${indent}${paint.dim("to send it again")}`,
    ...curlOf(exchange, view)
      .split("\n")
      .map((line) => `${indent}  ${paint.cyan(line)}`),
  ];
}

const painted = (line: string, paint: Paint): string => (line.startsWith("<") ? line : paint.dim(line));
