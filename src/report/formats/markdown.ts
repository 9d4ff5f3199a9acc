import { formatCount, joinFirst } from "../../base/text.ts";
import {
  brokenClauses,
  type ClauseGroup,
  impactOfCause,
  causeName,
  causesHeading,
  causesToFix,
  causeText,
  furtherCauses,
  maxCausesShown,
} from "../model/broken-clauses.ts";
import { clausesOf, type DistinctFinding, findingFacts } from "../model/finding-text.ts";
import { defaultPolicy, type FailurePolicy, type TestStatuses, testStatusesOf } from "../model/failure-policy.ts";
import { type Outcome, outcomes, type ReportFinding } from "../model/finding.ts";
import type { Report, ReportDocument } from "../model/report.ts";
import { pickSections, reportSections } from "../model/report-sections.ts";
import type { SectionBlock, SharedCause, TableCell, Section, TableBlock } from "../model/section.ts";
import { lostRequestTexts, verdictName, verdictReasons } from "../model/verdict-summary.ts";
import { evidenceLines, type FailureContext } from "../terminal/failure-lines.ts";
import { plainTextContext } from "./test-cases.ts";
import { markdownCode, fencedBlock, formatText, markdownProse, markdownTable } from "./markdown-text.ts";

const maxDetailedClauses = 20;
const maxTableRows = 30;

/** Renders a report as Markdown for GitHub and GitLab. Drops the last blocks if the text exceeds `maxBytes`. */
export function renderMarkdown(
  document: ReportDocument,
  policy: FailurePolicy = defaultPolicy,
  maxBytes = Number.POSITIVE_INFINITY,
): string {
  const { report } = document;
  const statuses = testStatusesOf(report.findings, policy);
  const sections = reportSections(report);
  const blocks = [
    ...verdictBlocks(report),
    ...pickSections(sections, ["recording"]).flatMap(sectionBlocks),
    ...fixFirstBlocks(report),
    ...pickSections(sections, ["profiles", "load", "caveats"]).flatMap(sectionBlocks),
    ...brokenBlocks("fail", "Broken", document, statuses),
    ...pickSections(sections, ["errors"]).flatMap(sectionBlocks),
    ...brokenBlocks("warning", "Warnings", document, statuses),
    ...brokenBlocks("note", "Notes", document, statuses),
    ...baselineBlocks(report.findings, statuses),
    ...pickSections(sections, ["skipped", "upcoming"]).flatMap(sectionBlocks),
    originLine(report),
  ];
  return joinBlocksWithin(blocks, maxBytes);
}

function verdictBlocks(report: Report): string[] {
  const rows = outcomes.flatMap((outcome): string[][] => {
    const findings = report.findings.filter((finding) => finding.outcome === outcome);
    return findings.length === 0 ? [] : [[outcome, String(findings.length), String(clausesOf(findings).length)]];
  });
  return [
    `## Conformance: ${report.verdict}`,
    `${markdownCode(report.target.name, 120)} ${markdownCode(report.target.baseUrl, 200)}`.trim(),
    `${verdictName(report)}: ${formatText(verdictReasons(report))}`,
    ...(rows.length === 0 ? [] : [markdownTable(["outcome", "checks", "clauses"], rows, [1, 2])]),
  ];
}

function fixFirstBlocks(report: Report): string[] {
  const causes = causesToFix(report);
  if (causes.length === 0) return [];
  const further = furtherCauses(causes);
  const items = causes
    .slice(0, maxCausesShown)
    .map(
      (cause, at) =>
        `${at + 1}. ${formatText(causeName(cause))}: ${formatText(causeText(cause))}. ${formatText(impactOfCause(cause))}`,
    );
  return [`### ${causesHeading(causes)}`, [...items, ...(further === null ? [] : [`\nAnd ${further}.`])].join("\n")];
}

function sectionBlocks({ title, lead, blocks }: Section): string[] {
  const causes = blocks.flatMap((block) =>
    block.kind === "causes" ? block.causes.map((each) => ({ block, each })) : [],
  );
  return [
    `### ${title}`,
    ...(lead === undefined ? [] : [formatText(lead)]),
    ...blocks.flatMap((block) => (block.kind === "causes" ? [] : [blockMarkdown(block)])),
    ...causesTable(causes.map(({ block, each }) => ({ prefix: block.prefix, ...each }))),
  ];
}

function blockMarkdown(block: Exclude<SectionBlock, { kind: "causes" }>): string {
  switch (block.kind) {
    case "table":
      return tableMarkdown(block);
    case "items":
      return block.items.map((item) => `- ${formatText(item)}`).join("\n");
    case "facts":
      return block.facts
        .slice(0, maxTableRows)
        .map(({ label, value }) => `- ${formatText(label)}: ${formatText(value)}`)
        .join("\n");
  }
}

const tableMarkdown = ({ columns, rows }: TableBlock): string =>
  markdownTable(
    columns.map(({ head }) => head),
    rows.map((row) => row.map(cellMarkdown)),
    columns.flatMap(({ align }, at) => (align === "right" ? [at] : [])),
  );

const cellMarkdown = ({ text, tone }: TableCell): string =>
  tone === "bad" ? `**${formatText(text)}**` : formatText(text);

function causesTable(causes: readonly (SharedCause & { readonly prefix: string })[]): string[] {
  if (causes.length === 0) return [];
  const rows = causes.slice(0, maxTableRows).map(({ prefix, text, findings }) => {
    const clauses = clausesOf(findings).map((clause) => markdownCode(clause, 60));
    return [`${prefix}${formatText(text)}`, String(findings.length), joinFirst(clauses, 5)];
  });
  const left = causes.length - rows.length;
  return [
    markdownTable(["why, or what would enable it", "checks", "clauses"], rows, [1]),
    ...(left > 0 ? [`And ${left} more reasons in report.json.`] : []),
  ];
}

function brokenBlocks(
  outcome: Extract<Outcome, "fail" | "warning" | "note">,
  title: string,
  document: ReportDocument,
  statuses: TestStatuses,
): string[] {
  const findings = document.report.findings.filter(
    (finding) => finding.outcome === outcome && statuses.of(finding).kind !== "known",
  );
  const groups = brokenClauses({ findings }).map(({ group }) => group);
  if (groups.length === 0) return [];
  const context = plainTextContext(document);
  const rest = groups.slice(maxDetailedClauses).map(({ clause }) => markdownCode(clause, 60));
  return [
    `### ${title}`,
    ...groups.slice(0, maxDetailedClauses).map((group) => clauseBlock(group, context)),
    ...(rest.length === 0 ? [] : [`And ${formatCount(rest.length, "more clause")}: ${rest.slice(0, 200).join(", ")}`]),
  ];
}

function clauseBlock({ clause, level, says, distinctFindings }: ClauseGroup, context: FailureContext): string {
  const [first, ...others] = distinctFindings;
  const evidence = evidenceLines(first.finding, context);
  return [
    `<details><summary><b>${markdownCode(clause, 60)}</b> (${level}) ${markdownProse(says)}</summary>`,
    "",
    ...findingFacts(first).map(({ label, value }) => `- ${formatText(label)} ${formatText(value)}`),
    ...others.slice(0, 3).map((each) => `- also ${formatOtherFinding(each)}`),
    ...(others.length > 3 ? [`- and ${formatCount(others.length - 3, "more finding")} of this clause`] : []),
    "",
    ...(evidence.length === 0 ? [] : [fencedBlock(evidence), ""]),
    "</details>",
  ].join("\n");
}

const formatOtherFinding = ({ finding, instances }: DistinctFinding): string =>
  [
    markdownCode(finding.actual ?? finding.reason ?? "", 300),
    ...(instances.length === 0 ? [] : [`(${markdownCode(instances.join("; "), 200)})`]),
  ].join(" ");

function baselineBlocks(findings: readonly ReportFinding[], { of: statusOf, stale }: TestStatuses): string[] {
  const known = findings.flatMap((finding) => {
    const status = statusOf(finding);
    return status.kind === "known"
      ? [`- ${markdownCode(finding.check, 100)}: ${markdownCode(status.reason, 300)}`]
      : [];
  });
  const old = stale.map(({ check, reason }) => `- ${markdownCode(check, 100)} (${markdownCode(reason, 300)})`);
  return [
    ...(known.length === 0 ? [] : ["### Known failures, excused by the baseline", known.join("\n")]),
    ...(old.length === 0 ? [] : ["### No longer fails: remove it from the baseline", old.join("\n")]),
  ];
}

function originLine({ suite, started, requests, executions, lost = 0 }: Report): string {
  const counts = [
    formatCount(requests, "request"),
    ...(executions === undefined ? [] : [formatCount(executions, "agent execution")]),
    ...lostRequestTexts({ lost }),
  ];
  return `<sub>agent-hosting-conformance ${markdownCode(suite.version, 40)}, requirement set ${markdownCode(suite.requirements, 40)}, clauses ${markdownCode(suite.clauses, 40)}, started ${markdownCode(started, 40)}, ${counts.join(", ")}</sub>`;
}

/** Joins as many whole blocks as fit into `maxBytes`. A cut block could leave a code fence open. */
function joinBlocksWithin(blocks: readonly string[], maxBytes: number): string {
  const whole = `${blocks.join("\n\n")}\n`;
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  const cut = "_Cut here: this is too long for a summary. The report has all of it._\n";
  let room = maxBytes - Buffer.byteLength(cut);
  const kept: string[] = [];
  for (const block of blocks) {
    room -= Buffer.byteLength(block) + 2;
    if (room < 0) break;
    kept.push(block);
  }
  const isLoneHeading = kept.at(-1)?.startsWith("### ") === true;
  return [...(isLoneHeading ? kept.slice(0, -1) : kept), cut].join("\n\n");
}
