import { type DistinctFinding, type ClauseGroup, groupByClause } from "../model/clause-groups.ts";
import { type ReportDocument, type Outcome, outcomes, type Report, type ReportFinding } from "../model/report.ts";
import { formatCount } from "../../base/text.ts";
import { paintFor } from "../../base/paint.ts";
import { loadVerdictLine } from "../terminal/load.ts";
import { lostText, verdictLine } from "../model/verdict.ts";
import { proofLines, type FindingView, findingViewOf } from "./finding-text.ts";
import { loadBlocks } from "./markdown-load.ts";
import { code, fenced, prose, table } from "./markdown-text.ts";
import { type FailurePolicy, defaultPolicy, type TestStatuses, testStatusesOf } from "../model/test-status.ts";

/** So many broken clauses are shown with their exchanges; the rest by their names. */
const mostInFull = 20;
const mostRows = 30;

/**
 * A report as a summary for people in Markdown, as GitHub and GitLab show it: the verdict, the figures, what is broken with expected, actual,
 * exchange and `curl`, what else was found, what was not exercised and what would enable it. Texts of the target stand in code letters, where
 * they can make neither markup nor links nor mentions. Ends with a line feed.
 *
 * @param mostBytes as UTF-8; what does not fit is left out from the end, and a line says so
 */
export function renderMarkdown(
  document: ReportDocument,
  rules: FailurePolicy = defaultPolicy,
  mostBytes = Number.POSITIVE_INFINITY,
): string {
  const { report } = document;
  const standings = testStatusesOf(report.findings, rules);
  const blocks = [
    ...headBlocks(report),
    ...loadBlocks(report.load?.runs ?? [], report.findings),
    ...brokenBlocks("fail", "Broken", document, standings),
    ...errorBlocks(report),
    ...brokenBlocks("warning", "Warnings", document, standings),
    ...brokenBlocks("note", "Notes", document, standings),
    ...knownBlocks(report.findings, standings),
    ...skippedBlocks(report),
    originLine(report),
  ];
  return fitting(blocks, mostBytes);
}

const unpainted = paintFor(false);

function headBlocks(report: Report): string[] {
  const line = report.load === undefined ? verdictLine(report, unpainted) : loadVerdictLine(report, unpainted);
  const rows = outcomes.flatMap((outcome): string[][] => {
    const total = report.totals[outcome];
    const clauses = new Set(
      report.findings.filter((finding) => finding.outcome === outcome).map(({ clause }) => clause),
    );
    return total === 0 ? [] : [[outcome, String(total), String(clauses.size)]];
  });
  return [
    `## Conformance: ${report.verdict}`,
    `${code(report.target.name, 120)} ${code(report.target.baseUrl, 200)}`.trim(),
    prose(line),
    ...(rows.length === 0 ? [] : [table(["outcome", "checks", "clauses"], rows, [1, 2])]),
  ];
}

function brokenBlocks(
  outcome: Extract<Outcome, "fail" | "warning" | "note">,
  title: string,
  document: ReportDocument,
  standings: TestStatuses,
): string[] {
  const isKnown = (finding: ReportFinding): boolean => standings.of(finding).kind === "known";
  const groups = groupByClause(
    document.report.findings.filter((finding) => !isKnown(finding)),
    outcome,
  );
  if (groups.length === 0) return [];
  const view = findingViewOf(document);
  const rest = groups.slice(mostInFull).map(({ clause }) => code(clause, 60));
  return [
    `### ${title}`,
    ...groups.slice(0, mostInFull).map((group) => clauseBlock(group, view)),
    ...(rest.length === 0 ? [] : [`And ${formatCount(rest.length, "more clause")}: ${rest.slice(0, 200).join(", ")}`]),
  ];
}

function clauseBlock(
  { clause, level, says, distinctFindings: [first, ...others] }: ClauseGroup,
  view: FindingView,
): string {
  const { finding, instances } = first;
  const proof = proofLines(finding, view);
  return [
    `<details><summary><b>${code(clause, 60)}</b> (${level}) ${prose(says)}</summary>`,
    "",
    `- expected ${code(finding.expected ?? "", 600)}`,
    `- actual ${code(finding.actual ?? finding.reason ?? "", 600)}`,
    ...(instances.length === 0 ? [] : [`- with ${code(instances.join("; "), 200)}`]),
    ...others.slice(0, 3).map((each) => `- also ${alsoOf(each)}`),
    ...(others.length > 3 ? [`- and ${formatCount(others.length - 3, "more finding")} of this clause`] : []),
    "",
    ...(proof.length === 0 ? [] : [fenced(proof), ""]),
    "</details>",
  ].join("\n");
}

const alsoOf = ({ finding, instances }: DistinctFinding): string =>
  [
    code(finding.actual ?? finding.reason ?? "", 300),
    ...(instances.length === 0 ? [] : [`(${code(instances.join("; "), 200)})`]),
  ].join(" ");

function errorBlocks({ findings }: Report): string[] {
  const errors = groupByClause(findings, "error");
  if (errors.length === 0) return [];
  const lines = errors
    .slice(0, mostRows)
    .map(({ clause, distinctFindings: [{ finding }] }) => `- ${code(clause, 60)}: ${code(finding.reason ?? "", 300)}`);
  return ["### The harness itself failed", "This is not the target's fault.", lines.join("\n")];
}

function knownBlocks(findings: readonly ReportFinding[], { of: standingOf, stale }: TestStatuses): string[] {
  const known = findings.flatMap((finding) => {
    const standing = standingOf(finding);
    return standing.kind === "known" ? [`- ${code(finding.check, 100)}: ${code(standing.reason, 300)}`] : [];
  });
  const old = stale.map(({ check, reason }) => `- ${code(check, 100)} (${code(reason, 300)})`);
  return [
    ...(known.length === 0 ? [] : ["### Known failures, excused by the baseline", known.join("\n")]),
    ...(old.length === 0 ? [] : ["### No longer fails: take it out of the baseline", old.join("\n")]),
  ];
}

function skippedBlocks({ findings }: Report): string[] {
  const skipped = findings.filter(({ outcome }) => outcome === "skipped");
  if (skipped.length === 0) return [];
  const causeOf = ({ needs, reason = "" }: ReportFinding): string =>
    needs === undefined ? code(reason) : `enabled by ${code(needs)}`;
  const groups = [...Map.groupBy(skipped, causeOf)].toSorted(([, a], [, b]) => b.length - a.length);
  const rows = groups.slice(0, mostRows).map(([cause, members]) => {
    const clauses = [...new Set(members.map(({ clause }) => clause))];
    const more = clauses.length > 5 ? ` and ${clauses.length - 5} more` : "";
    return [
      cause,
      String(members.length),
      clauses
        .slice(0, 5)
        .map((each) => code(each, 60))
        .join(", ") + more,
    ];
  });
  const left = groups.length - rows.length;
  return [
    "### Not exercised",
    table(["why, or what would enable it", "checks", "clauses"], rows, [1]),
    ...(left > 0 ? [`And ${left} more reasons in report.json.`] : []),
  ];
}

const originLine = ({ suite, started, requests, executions, lost = 0 }: Report): string =>
  `<sub>agent-hosting-conformance ${code(suite.version, 40)}, clauses ${code(suite.clauses, 40)}, started ${code(started, 40)}, ${formatCount(requests, "request")}${executions === undefined ? "" : `, ${formatCount(executions, "agent execution")}`}${lostText(
    { lost },
  )
    .map((text) => `, ${text}`)
    .join("")}</sub>`;

/** Whole blocks, as many as fit: half of one could leave a fence open. */
function fitting(blocks: readonly string[], mostBytes: number): string {
  const whole = `${blocks.join("\n\n")}\n`;
  if (Buffer.byteLength(whole) <= mostBytes) return whole;
  const cut = "_Cut here: this is too long for a summary. The whole of it is in the report._\n";
  let room = mostBytes - Buffer.byteLength(cut);
  const kept: string[] = [];
  for (const block of blocks) {
    room -= Buffer.byteLength(block) + 2;
    if (room < 0) break;
    kept.push(block);
  }
  // A heading with nothing below it.
  if (kept.at(-1)?.startsWith("### ") === true) kept.pop();
  return [...kept, cut].join("\n\n");
}
