import { profiles } from "../../spec/profiles.ts";
import { clientHarmRank } from "../model/broken-clauses.ts";
import type { Outcome } from "../model/finding.ts";
import { type ClauseCell, type ClauseRow, notObservedPrefix, type BehaviourRow } from "./clause-rows.ts";
import type { VendorComparison } from "./comparison.ts";
import type { LatencyRow, StreamingRow } from "./latency-rows.ts";
import { formatProfileCell, type ProfileRow, rankingRule } from "./profile-rows.ts";
import { formatLatency, limitsCaveat, loadTimesCaveat, runTimesCaveat } from "./summary.ts";

/** A table that the HTML, Markdown and terminal comparisons of vendors share. Each row has one cell per vendor. */
export interface VendorTable {
  readonly id: "profiles" | "broken" | "clauses" | "readings" | "silence" | "limits" | "times" | "streaming" | "load";
  readonly title: string;
  readonly lead: string;
  readonly groups: readonly VendorRowGroup[];
}

export interface VendorRowGroup {
  readonly title: string;
  readonly rows: readonly VendorRow[];
}

export interface VendorRow {
  readonly name: string;
  readonly level?: string;
  readonly detail?: string;
  readonly cells: readonly VendorCell[];
  /** Whether vendors differ in this row. `null` for rows that are not compared, such as times. */
  readonly differs: boolean | null;
}

export type VendorCell =
  | { readonly kind: "outcome"; readonly outcome: Outcome; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "empty"; readonly text: string };

export function vendorTables({
  profiles: profileRows,
  sections,
  readings,
  gaps,
  limits,
  latencies,
  streaming,
}: VendorComparison): VendorTable[] {
  const tables: VendorTable[] = [
    {
      id: "profiles",
      title: "Ranking by profile",
      lead: rankingRule,
      groups: [{ title: "", rows: profileRows.map(profileRow) }],
    },
    {
      id: "broken",
      title: "Broken must clauses",
      lead: "Every must clause that a vendor breaks, the worst for a client first.",
      groups: [{ title: "", rows: brokenMustRows(sections.flatMap(({ rows }) => rows)).map(clauseRow) }],
    },
    {
      id: "clauses",
      title: "Other clauses",
      lead: "Each clause by the worst of its findings.",
      groups: sections
        .map(({ title, rows }) => ({ title, rows: rows.filter((row) => !isBrokenMust(row)).map(clauseRow) }))
        .filter(({ rows }) => rows.length > 0),
    },
    {
      id: "readings",
      title: "Readings",
      lead: "Where the document allows more than one behaviour: the reading that each vendor follows.",
      groups: [{ title: "", rows: readings.map(behaviourRow) }],
    },
    {
      id: "silence",
      title: "Where the document is silent",
      lead: "The behaviour of each vendor there. None of it is right or wrong, but a client that changes vendors meets the differences.",
      groups: [{ title: "", rows: gaps.map(behaviourRow) }],
    },
    limitsTable(limits),
    latencyTable("times", "Times", runTimesCaveat, latencies.ofRuns),
    {
      id: "streaming",
      title: "Streaming quality",
      lead: "Figures that nothing judges, for the agent of each vendor with the most streams. Times between chunks are under Times.",
      groups: [{ title: "", rows: streaming.map(streamingRow) }],
    },
    latencyTable("load", "Times under load", loadTimesCaveat, latencies.ofLoad),
  ];
  return tables.filter(({ groups }) => groups.some(({ rows }) => rows.length > 0));
}

const limitsTable = (limits: VendorComparison["limits"]): VendorTable => ({
  id: "limits",
  title: "Limits",
  lead: limitsCaveat,
  groups: limits.map(({ tier, rows }) => ({
    title: tier,
    rows: rows.map(({ name, published, cells, differs }) => ({
      name,
      ...(published === "" ? {} : { detail: `published: ${published}` }),
      cells: cells.map(behaviourCell),
      differs,
    })),
  })),
});

const streamingRow = ({ name, cells }: StreamingRow): VendorRow => measuredRow(name, cells, (text) => text ?? "–");

const measuredRow = <T>(name: string, cells: readonly (T | null)[], format: (cell: T | null) => string): VendorRow => ({
  name,
  cells: cells.map((cell) => ({ kind: cell === null ? "empty" : "text", text: format(cell) })),
  differs: null,
});

const profileRow = ({ profile, cells }: ProfileRow): VendorRow => ({
  name: profile,
  detail: profiles[profile].summary,
  cells: cells.map((cell) => ({ kind: cell === null ? "empty" : "text", text: formatProfileCell(cell) })),
  differs: new Set(cells.flatMap((cell) => cell?.verdict ?? [])).size > 1,
});

const isBrokenMust = ({ level, cells }: ClauseRow): boolean =>
  level === "must" && cells.some((cell) => cell?.outcome === "fail");

const brokenMustRows = (rows: readonly ClauseRow[]): ClauseRow[] =>
  rows
    .filter(isBrokenMust)
    .toSorted(
      (one, other) =>
        clientHarmRank(one.clause) - clientHarmRank(other.clause) || brokenVendorCount(other) - brokenVendorCount(one),
    );

const brokenVendorCount = ({ cells }: ClauseRow): number => cells.filter((cell) => cell?.outcome === "fail").length;

const clauseRow = ({ clause, level, says, cells, differs }: ClauseRow): VendorRow => ({
  name: clause,
  level,
  detail: says,
  cells: cells.map(clauseCell),
  differs,
});

function clauseCell(cell: ClauseCell | null): VendorCell {
  if (cell === null) return { kind: "empty", text: "not judged" };
  const { outcome, text } = cell;
  return outcome === "absent" ? { kind: "empty", text: "not in its report" } : { kind: "outcome", outcome, text };
}

function behaviourCell(text: string | null): VendorCell {
  if (text === null) return { kind: "empty", text: "not judged" };
  if (text === "") return { kind: "empty", text: "not observed" };
  return { kind: text === "no key" || text.startsWith(notObservedPrefix) ? "empty" : "text", text };
}

const behaviourRow = ({ check, says, cells, differs }: BehaviourRow): VendorRow => ({
  name: check,
  detail: says,
  cells: cells.map(behaviourCell),
  differs,
});

const latencyTable = (
  id: "times" | "load",
  title: string,
  lead: string,
  latencies: readonly LatencyRow[],
): VendorTable => {
  const rows = latencies.map(({ name, cells }) => measuredRow(name, cells, formatLatency));
  return { id, title, lead, groups: [{ title: "", rows }] };
};
