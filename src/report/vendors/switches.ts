import { groupsBy } from "../../base/lists.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount, joinFirst } from "../../base/text.ts";
import type { ClauseSection, ComparedRow } from "./clause-rows.ts";
import { areLimitsDifferent, type TierRows } from "./limit-rows.ts";
import type { ProfileRow } from "./profile-rows.ts";
import type { Vendor } from "./vendor.ts";

const kinds = ["profile", "broken clause", "error form", "reading", "limit", "gap"] as const;

interface SwitchDifference {
  readonly kind: (typeof kinds)[number];
  /** The items that differ: names of profiles, ids of clauses or checks, or limits such as `pro, burst`. */
  readonly names: readonly string[];
  readonly from: string;
  readonly to: string;
}

/** The differences that a client meets when it changes from one vendor to another. */
export interface VendorSwitch {
  readonly from: string;
  readonly to: string;
  readonly differences: readonly SwitchDifference[];
}

interface ComparedTables {
  readonly profiles: readonly ProfileRow[];
  readonly sections: readonly ClauseSection[];
  readonly readings: readonly ComparedRow[];
  readonly gaps: readonly ComparedRow[];
  readonly limits: readonly TierRows[];
}

/** If more vendors are judged, compares only the first vendor with each other vendor, instead of every pair. */
const maxPairedVendors = 4;

/**
 * Lists what changes for a client that switches from one vendor to another. If `from` names a vendor, compares only
 * that vendor with each other vendor.
 */
export function vendorSwitches(
  vendors: readonly Vendor[],
  tables: ComparedTables,
  from: string | null,
): VendorSwitch[] {
  const judged = vendors.flatMap(({ kind }, at) => (kind === "judged" ? [at] : []));
  const nameOf = (at: number): string => sanitizeLine(vendors[at]?.name ?? "", 60);
  return pairsOf(judged, from === null ? null : vendors.findIndex(({ name }) => name === from)).map(([one, other]) => ({
    from: nameOf(one),
    to: nameOf(other),
    differences: differencesBetween(one, other, tables),
  }));
}

function pairsOf(judged: readonly number[], from: number | null): (readonly [number, number])[] {
  const [first] = judged;
  const start = from ?? (judged.length > maxPairedVendors ? first : undefined);
  if (start === undefined)
    return judged.flatMap((one, at) => judged.slice(at + 1).map((other) => [one, other] as const));
  if (!judged.includes(start)) return [];
  return judged.filter((other) => other !== start).map((other) => [start, other] as const);
}

function differencesBetween(one: number, other: number, tables: ComparedTables): SwitchDifference[] {
  const all = [
    ...profileDifferences(one, other, tables.profiles),
    ...brokenDifferences(one, other, tables.sections),
    ...behaviourDifferences("reading", one, other, tables.readings),
    ...limitDifferences(one, other, tables.limits),
    ...behaviourDifferences("gap", one, other, tables.gaps),
  ];
  return groupsBy(all, ({ kind, from, to }) => [kind, from, to].join("\n"))
    .map((members) => ({ ...members[0], names: members.flatMap(({ names }) => names) }))
    .toSorted((left, right) => kinds.indexOf(left.kind) - kinds.indexOf(right.kind));
}

const profileDifferences = (one: number, other: number, rows: readonly ProfileRow[]): SwitchDifference[] =>
  rows.flatMap(({ profile, cells }) => {
    const offers = [cells[one], cells[other]].map((cell) => cell?.verdict !== "not offered");
    const [from, to] = offers.map((isOffered) => (isOffered ? "offered" : "not offered"));
    return from === to ? [] : [{ kind: "profile" as const, names: [profile], from: from ?? "", to: to ?? "" }];
  });

const brokenDifferences = (one: number, other: number, sections: readonly ClauseSection[]): SwitchDifference[] =>
  sections
    .flatMap(({ rows }) => rows)
    .flatMap(({ clause, level, cells }) => {
      const pair = [cells[one], cells[other]];
      const outcomes = pair.map((cell) => cell?.outcome);
      if (level !== "must" || !outcomes.includes("fail") || !outcomes.includes("pass")) return [];
      const [from = "", to = ""] = pair.map((cell) => (cell?.outcome === "fail" ? `broken: ${cell.text}` : "holds"));
      return [{ kind: "broken clause" as const, names: [clause], from, to }];
    });

const behaviourDifferences = (
  kind: "reading" | "gap",
  one: number,
  other: number,
  rows: readonly ComparedRow[],
): SwitchDifference[] =>
  rows
    .filter(({ row, areDifferent }) => row.differs && areDifferent(one, other))
    .map(({ row: { clause, check, cells } }) => ({
      kind: clause.startsWith("ERR-") ? "error form" : kind,
      names: [kind === "gap" ? check : clause],
      from: cells[one] ?? "",
      to: cells[other] ?? "",
    }));

const limitDifferences = (one: number, other: number, tiers: readonly TierRows[]): SwitchDifference[] =>
  tiers.flatMap(({ tier, rows }) =>
    rows
      .filter(({ cells }) => areLimitsDifferent(cells[one] ?? null, cells[other] ?? null))
      .map(({ name, cells }) => ({
        kind: "limit" as const,
        names: [`${tier}, ${name}`],
        from: cells[one] ?? "",
        to: cells[other] ?? "",
      })),
  );

export const switchesTitle = "The price of a switch";
export const switchesLead =
  "What a client meets when it goes from one vendor to another. The way back has the same differences, the other way round. With more than four vendors, the list starts at the first; `--from NAME` chooses another.";

/** Formats the heading of a switch: `From Acme to Borealis: 9 differences`. */
export const formatSwitch = ({ from, to, differences }: VendorSwitch): string =>
  `From ${from} to ${to}: ${differences.length === 0 ? "no difference was seen" : formatCount(differences.length, "difference")}`;

/** Formats a difference: `error form, ERR-2: “form-a” becomes “form-b”.` */
export const formatDifference = ({ kind, names, from, to }: SwitchDifference): string =>
  `${kind}, ${joinFirst(names, 4)}: “${sanitizeLine(from, 200)}” becomes “${sanitizeLine(to, 200)}”.`;
