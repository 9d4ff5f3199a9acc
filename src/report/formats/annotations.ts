import { groupsBy } from "../../base/lists.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { joinFirst } from "../../base/text.ts";
import { failureCauses } from "../model/broken-clauses.ts";
import { isBrokenOrError, type ReportFinding } from "../model/finding.ts";
import type { ReportDocument } from "../model/report.ts";
import { defaultPolicy, type FailurePolicy, testStatusesOf } from "../model/failure-policy.ts";
import { clauseSentence, findingName, clausesOf } from "../model/finding-text.ts";
import { whyNothingJudged } from "../model/verdict.ts";
import { formatBreach, formatUpcoming, harnessFailedText } from "./test-cases.ts";

const maxAnnotationsPerKind = 10;

/** Formats failures, warnings and upcoming failures as workflow commands. GitHub Actions shows them as annotations. */
export function annotationLines(
  { report }: Pick<ReportDocument, "report">,
  policy: FailurePolicy = defaultPolicy,
): string[] {
  const statuses = testStatusesOf(report.findings, policy);
  const notJudged = whyNothingJudged(report);
  const kindOf = (finding: ReportFinding): string => statuses.of(finding).kind;
  const failed = report.findings.filter((finding) => ["failed", "harness failed"].includes(kindOf(finding)));
  const warned = report.findings.filter((finding) => finding.outcome === "warning" && kindOf(finding) === "passed");
  const stale = statuses.stale.map(({ check }) =>
    workflowCommand(
      "error",
      `Stale baseline: ${sanitizeLine(check)}`,
      "It no longer fails: remove it from the baseline.",
    ),
  );
  return [
    ...withinAnnotationLimit("error", [
      ...(notJudged === null ? [] : [workflowCommand("error", "Nothing was judged", sanitizeLine(notJudged, 1000))]),
      ...causeAnnotations("error", failed),
      ...stale,
    ]),
    ...withinAnnotationLimit("warning", causeAnnotations("warning", warned)),
    ...withinAnnotationLimit(
      "notice",
      report.upcoming
        .filter(isBrokenOrError)
        .map((finding) =>
          workflowCommand("notice", `${findingName(finding)} (upcoming)`, formatUpcoming(finding, 400)),
        ),
    ),
  ];
}

function causeAnnotations(kind: "error" | "warning", findings: readonly ReportFinding[]): string[] {
  const firstClause = new Map(
    failureCauses({ findings }).flatMap(({ broken }) =>
      broken.map(({ group }) => [group.clause, broken[0].group.clause] as const),
    ),
  );
  // An annotation has one position in a file. Findings with positions are grouped by them, others by probable cause.
  const groupOf = ({ clause, where }: ReportFinding): string =>
    where === undefined ? (firstClause.get(clause) ?? clause) : JSON.stringify([clause, where]);
  const order = [...new Set(firstClause.values())];
  const rankOf = (group: string): number => (order.includes(group) ? order.indexOf(group) : order.length);
  return groupsBy(findings, groupOf)
    .toSorted(([one], [other]) => rankOf(groupOf(one)) - rankOf(groupOf(other)))
    .map((members) => {
      const first = members.find((each) => each.clause === groupOf(each)) ?? members[0];
      return annotationOf(kind, first, members);
    });
}

function annotationOf(kind: "error" | "warning", finding: ReportFinding, members: readonly ReportFinding[]): string {
  const ofClause = members.filter(({ clause }) => clause === finding.clause).length - 1;
  const others = clausesOf(members).filter((clause) => clause !== finding.clause);
  const alike = others.length === 0 ? "" : `; probably the same cause: ${sanitizeLine(joinFirst(others, 5), 200)}`;
  const more = (ofClause === 0 ? "" : ` (and ${ofClause} more of this clause)`) + alike;
  const sentence = clauseSentence(finding.clause);
  const result =
    finding.outcome === "error"
      ? `${harnessFailedText}: ${sanitizeLine(finding.reason ?? "")}`
      : formatBreach(finding, 400);
  const lines = [...(sentence === "" ? [] : [sentence]), result + more];
  return workflowCommand(kind, `${findingName(finding)} (${finding.level})`, lines.join("\n"), finding.where);
}

function withinAnnotationLimit(kind: "error" | "warning" | "notice", lines: readonly string[]): readonly string[] {
  if (lines.length <= maxAnnotationsPerKind) return lines;
  const left = lines.length - (maxAnnotationsPerKind - 1);
  return [
    ...lines.slice(0, maxAnnotationsPerKind - 1),
    workflowCommand(kind, "Conformance", `${left} more in the report.`),
  ];
}

const workflowCommand = (kind: string, title: string, message: string, where?: ReportFinding["where"]): string =>
  `::${kind} ${where === undefined ? "" : locationProperties(where)}title=${escapeProperty(title)}::${escapeData(message)}`;

const locationProperties = ({ file, line, column }: NonNullable<ReportFinding["where"]>): string =>
  `file=${escapeProperty(file)},line=${line},col=${column},`;

const escapeData = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");

const escapeProperty = (text: string): string => escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** Disarms GitHub Actions commands in a text. Texts of the target, which a report quotes, could contain commands. */
export const withoutCommands = (text: string): string =>
  text.replace(/^([^\S\n]*):(?=:)/gm, "$1: ").replaceAll("##[", "## [");
