import { markdownCode, markdownProse, markdownTable } from "../formats/markdown-text.ts";
import type { ComparedSide, Comparison } from "./comparison.ts";
import {
  type ClauseWithResults,
  type ComparisonSection,
  comparisonSections,
  formatComparedReport,
  formatCovered,
  formatComparisonSummary,
} from "./sections.ts";
import { groupMetricsByTrial } from "./load-metrics.ts";

const maxListedClauses = 50;

export function renderComparisonMarkdown(found: Comparison): string {
  const blocks = [
    `## ${found.regressions.length === 0 ? "✅" : "❌"} ${markdownProse(formatComparisonSummary(found))}`,
    [sideMarkdown("old", found.older), sideMarkdown("new", found.newer)].join("\n"),
    ...(found.notes.length === 0 ? [] : [found.notes.map((note) => `> ${markdownProse(note)}`).join("\n>\n")]),
    ...(found.regressions.length === 0
      ? []
      : [
          `### Regressions\n\n${found.regressions.map(({ kind, says }) => `- **${kind}** ${markdownCode(says)}`).join("\n")}`,
        ]),
    ...comparisonSections(found).map(sectionMarkdown),
    ...loadMarkdown(found),
  ];
  return `${blocks.join("\n\n")}\n`;
}

function sideMarkdown(label: string, side: ComparedSide): string {
  const covered = formatCovered(side);
  const text = `- **${label}**: ${markdownProse(formatComparedReport(side))}`;
  return covered === "" ? text : `${text}\n  - ${markdownProse(covered)}`;
}

function sectionMarkdown({ title, tone, count, entries, lines }: ComparisonSection): string {
  const left = entries.length - maxListedClauses;
  const body = [
    ...entries.slice(0, maxListedClauses).map(clauseMarkdown),
    ...(left > 0 ? [`- and ${left} more clauses`] : []),
    ...lines.map(({ label, text }) => `- **${label}** ${markdownCode(text)}`),
  ].join("\n");
  if (tone === "bad") return `### ${title}: ${count}\n\n${body}`;
  return `<details>\n<summary>${title}: ${count}</summary>\n\n${body}\n\n</details>`;
}

function clauseMarkdown({ clause, level, says, cases }: ClauseWithResults): string {
  const lines = cases.flatMap(({ checks, rows }) => [
    ...(checks === clause ? [] : [`  - ${markdownCode(checks)}`]),
    ...rows.map(({ label, text }) => `${checks === clause ? "  " : "    "}- ${label}: ${markdownCode(text)}`),
  ]);
  return [`- **${markdownProse(clause)}** ${level}${says === "" ? "" : ` · ${markdownProse(says)}`}`, ...lines].join(
    "\n",
  );
}

function loadMarkdown(found: Comparison): string[] {
  const groups = groupMetricsByTrial(found);
  if (groups.length === 0) return [];
  const rows = groups.flatMap((group) =>
    group.rows.map(({ figure, was, is, change }, at) => [
      at === 0 ? markdownProse(group.load) : "",
      figure,
      was,
      is,
      change,
    ]),
  );
  return [`### Load\n\n${markdownTable(["load", "metric", "old", "new", "change"], rows, [2, 3, 4])}`];
}
