import { markdownProse, markdownTable } from "../formats/markdown-text.ts";
import type { VendorComparison, VendorSummary } from "./comparison.ts";
import { comparisonNotes, formatOverview, questionsIntro, questionsTitle, type HeadRow, headRows } from "./summary.ts";
import { formatDifference, formatSwitch, switchesLead, switchesTitle } from "./switches.ts";
import { type VendorCell, type VendorTable, vendorTables } from "./tables.ts";

/**
 * Renders a vendor comparison as Markdown: verdicts, the tables of {@link vendorTables}, questions to each vendor, and
 * what changes when a client switches vendors.
 */
export function renderVendorsMarkdown(all: VendorComparison): string {
  const names = all.vendors.map(({ name }) => markdownProse(name));
  const notes = comparisonNotes(all).map((note) => `- ${markdownProse(note)}`);
  const blocks = [
    "# Comparison of vendors",
    markdownProse(formatOverview(all)),
    markdownTable(["", ...names], vendorHeadRows(all.vendors)),
    notes.join("\n"),
    ...vendorTables(all).flatMap((each) => tableMarkdown(each, names)),
    ...questionsMarkdown(all, names),
    ...switchesMarkdown(all),
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

const differenceTitles: Readonly<Partial<Record<VendorTable["id"], string>>> = {
  clauses: "Other clauses in which they differ",
  readings: "Readings in which they differ",
  silence: "Where the document is silent, and they differ",
};

function tableMarkdown({ id, title, lead, groups }: VendorTable, names: readonly string[]): string[] {
  const ownTitle = differenceTitles[id];
  const rows = groups.flatMap((group) =>
    group.rows
      .filter(({ differs }) => ownTitle === undefined || differs === true)
      .map(({ name, detail = "", cells }) => {
        const label = id === "limits" ? `${group.title}, ${name}` : name;
        return [`**${markdownProse(label)}** ${markdownProse(detail)}`.trim(), ...cells.map(cellMarkdown)];
      }),
  );
  if (rows.length === 0) return [];
  return [
    `## ${ownTitle ?? title}`,
    ...(ownTitle === undefined ? [markdownProse(lead)] : []),
    markdownTable(["", ...names], rows),
  ];
}

function questionsMarkdown({ questions }: VendorComparison, names: readonly string[]): string[] {
  const lists = questions.flatMap((ofVendor, at) =>
    ofVendor === null || ofVendor.length === 0
      ? []
      : [`### ${names[at] ?? ""}`, ofVendor.map(({ text }) => `1. ${markdownProse(text, 1500)}`).join("\n")],
  );
  return lists.length === 0 ? [] : [`## ${questionsTitle}`, markdownProse(questionsIntro), ...lists];
}

function switchesMarkdown({ switches }: VendorComparison): string[] {
  if (switches.length === 0) return [];
  const lists = switches.flatMap((each) => [
    `### ${markdownProse(formatSwitch(each))}`,
    each.differences.map((difference) => `- ${markdownProse(formatDifference(difference), 1500)}`).join("\n"),
  ]);
  return [`## ${switchesTitle}`, markdownProse(switchesLead), ...lists];
}

const outcomeSymbols = {
  pass: "✅",
  fail: "❌",
  warning: "⚠️",
  note: "ℹ️",
  observed: "🔍",
  skipped: "⏭️",
  error: "💥",
} as const;

function cellMarkdown(cell: VendorCell): string {
  if (cell.kind === "empty") return cell.text === "–" ? "–" : `– ${markdownProse(cell.text)}`;
  if (cell.kind === "text") return markdownProse(cell.text);
  return `${outcomeSymbols[cell.outcome]} ${cell.outcome}${cell.text === "" ? "" : `: ${markdownProse(cell.text)}`}`;
}

function vendorHeadRows(vendors: readonly VendorSummary[]): string[][] {
  const unjudgedText = (name: HeadRow["name"], { baseUrl, reason }: UnjudgedSummary): string => {
    if (name === "verdict") return `not judged: ${reason}`;
    return name === "base URL" ? (baseUrl ?? "–") : "–";
  };
  return headRows(vendors).map(({ name, textOf }) => [
    name,
    ...vendors.map((head) => markdownProse(head.kind === "judged" ? textOf(head) : unjudgedText(name, head))),
  ]);
}

type UnjudgedSummary = Extract<VendorSummary, { kind: "unjudged" }>;
