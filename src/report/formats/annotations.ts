import type { ReportDocument, ReportFinding } from "../model/report.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { breachLine, findingName, sentenceOf } from "./finding-text.ts";
import { whyNothingJudged } from "../model/verdict.ts";
import { type FailurePolicy, defaultPolicy, testStatusesOf } from "../model/test-status.ts";

/** So many of a kind GitHub shows of a step. */
const mostOfAKind = 10;

/**
 * What failed a run, as workflow commands of GitHub Actions, a line each: `::error` for each broken clause and failure of the harness,
 * one where nothing could be asked of the target, `::warning` for a warning that fails nothing. At most ten of a kind; the tenth says how many more there are.
 */
export function annotationLines(
  { report }: Pick<ReportDocument, "report">,
  rules: FailurePolicy = defaultPolicy,
): string[] {
  const standings = testStatusesOf(report.findings, rules);
  const unjudged = whyNothingJudged(report);
  const kindOf = (finding: ReportFinding): string => standings.of(finding).kind;
  const failed = report.findings.filter((finding) => ["failed", "harness failed"].includes(kindOf(finding)));
  const warned = report.findings.filter((finding) => finding.outcome === "warning" && kindOf(finding) === "passed");
  return [
    ...bounded("error", [
      ...(unjudged === null ? [] : [command("error", "Nothing was judged", sanitizeLine(unjudged, 1000))]),
      ...byClause(failed).map((members) => annotation("error", members)),
      ...standings.stale.map(({ check }) =>
        command("error", `Stale baseline: ${sanitizeLine(check)}`, "It no longer fails: take it out of the baseline."),
      ),
    ]),
    ...bounded(
      "warning",
      byClause(warned).map((members) => annotation("warning", members)),
    ),
  ];
}

type Named = readonly [ReportFinding, ...ReportFinding[]];

const byClause = (findings: readonly ReportFinding[]): Named[] =>
  [...Map.groupBy(findings, ({ clause }) => clause).values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [[first, ...rest] as const],
  );

function annotation(kind: "error" | "warning", [first, ...others]: Named): string {
  const more = others.length === 0 ? "" : ` (and ${others.length} more of this clause)`;
  const says = [sentenceOf(first)].filter((sentence) => sentence !== "");
  const came =
    first.outcome === "error"
      ? `The harness itself failed; this is not the target's fault: ${sanitizeLine(first.reason ?? "")}`
      : breachLine(first, 400);
  return command(kind, `${findingName(first)} (${first.level})`, [...says, came + more].join("\n"));
}

function bounded(kind: "error" | "warning", lines: readonly string[]): readonly string[] {
  if (lines.length <= mostOfAKind) return lines;
  const left = lines.length - (mostOfAKind - 1);
  return [...lines.slice(0, mostOfAKind - 1), command(kind, "Conformance", `${left} more in the report.`)];
}

const command = (kind: string, title: string, message: string): string =>
  `::${kind} title=${property(title)}::${data(message)}`;

const data = (text: string): string => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");

const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/**
 * Text in which a runner of GitHub Actions sees no command: neither `::` at the beginning of a line, nor the older `##[` anywhere. What a
 * target says stands in our reports, and must not set anything in the pipeline that prints them.
 */
export const withoutCommands = (text: string): string =>
  text.replace(/^([^\S\n]*):(?=:)/gm, "$1: ").replaceAll("##[", "## [");
