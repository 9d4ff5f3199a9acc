import { prose, table } from "../formats/markdown-text.ts";
import type { ClauseCell, TextRow } from "./clause-rows.ts";
import type { LatencyRow } from "./latency-rows.ts";
import type { VendorComparison, VendorSummary } from "./comparison.ts";
import {
  formatClauseCounts,
  latencyText,
  limitsCaveat,
  loadTimesCaveat,
  notesOf,
  overview,
  runTimesCaveat,
} from "./summary.ts";

type Rows = readonly (readonly string[])[];

/** Renders a vendor comparison as Markdown: verdicts, then differences. */
export function renderVendorsMarkdown(all: VendorComparison): string {
  const { vendors, sections, readings, gaps, latencies } = all;
  const names = vendors.map(({ name }) => prose(name));
  const clauses = sections
    .flatMap(({ rows }) => rows)
    .filter(({ differs }) => differs)
    .map(({ clause, says, cells }) => [`**${prose(clause)}** ${prose(says)}`, ...cells.map(clauseText)]);
  const blocks = [
    "# Vendors side by side",
    prose(overview(all)),
    table(["", ...names], headRows(vendors)),
    notesOf(all)
      .map((note) => `- ${prose(note)}`)
      .join("\n"),
    ...part("Clauses in which they differ", ["clause", ...names], clauses),
    ...part("Readings in which they differ", ["clause", ...names], textRows(readings)),
    ...part("Where the document is silent, and they differ", ["gap", ...names], textRows(gaps)),
    ...part("Limits", ["tier", "limit", "published", ...names], limitRows(all), limitsCaveat),
    ...part("Times", ["request", ...names], latencyRows(latencies.ofRuns), runTimesCaveat),
    ...part("Times under load", ["scenario", ...names], latencyRows(latencies.ofLoad), loadTimesCaveat),
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

const part = (title: string, head: readonly string[], rows: Rows, caveat = ""): string[] =>
  rows.length === 0 ? [] : [`## ${title}`, prose(caveat), table(head, rows)];

const textRows = (rows: readonly TextRow[]): Rows =>
  rows
    .filter(({ differs }) => differs)
    .map(({ check, says, cells }) => [`**${prose(check)}** ${prose(says)}`, ...cells.map(textOrDash)]);

const limitRows = ({ limits }: VendorComparison): Rows =>
  limits.flatMap(({ tier, rows }) =>
    rows.map(({ name, published, cells }) => [prose(tier), name, published, ...cells.map(textOrDash)]),
  );

const latencyRows = (rows: readonly LatencyRow[]): Rows =>
  rows.map(({ name, cells }) => [prose(name), ...cells.map(latencyText)]);

const textOrDash = (text: string | null): string => (text === null || text === "" ? "–" : prose(text));

const symbols = {
  pass: "✅",
  fail: "❌",
  warning: "⚠️",
  note: "ℹ️",
  observed: "🔍",
  skipped: "⏭️",
  error: "💥",
  absent: "–",
} as const;

function clauseText(cell: ClauseCell | null): string {
  if (cell === null) return "–";
  const word = cell.outcome === "absent" ? "not in its report" : cell.outcome;
  return `${symbols[cell.outcome]} ${word}${cell.text === "" ? "" : `: ${prose(cell.text)}`}`;
}

type Of<Kind> = (head: Extract<VendorSummary, { kind: Kind }>) => string;

const nothing = (): string => "–";

function headRows(vendors: readonly VendorSummary[]): Rows {
  const row = (name: string, ofJudged: Of<"judged">, ofOther: Of<"unjudged"> = nothing): readonly string[] => [
    name,
    ...vendors.map((head) => prose(head.kind === "judged" ? ofJudged(head) : ofOther(head))),
  ];
  const hasLoad = vendors.some((head) => head.kind === "judged" && head.load !== null);
  const loadText: Of<"judged"> = ({ load }) =>
    load === null ? "–" : `${load.verdict}, ${load.broken} broken in ${load.runs} runs`;
  return [
    row(
      "verdict",
      ({ verdict }) => verdict,
      ({ reason }) => `not judged: ${reason}`,
    ),
    row(
      "base URL",
      ({ baseUrl }) => baseUrl,
      ({ baseUrl }) => baseUrl ?? "–",
    ),
    row("clauses", formatClauseCounts),
    row("requests", ({ requests }) => String(requests)),
    ...(hasLoad ? [row("under load", loadText)] : []),
  ];
}
