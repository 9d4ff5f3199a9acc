import { type Exchange, headerValues, statusOf } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";
import { publishedTiers, type TierLimits, tierNames } from "../../spec/tiers.ts";
import { isEquivalentText } from "../compare/find-changes.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { ReportFinding } from "../model/finding.ts";
import { type VendorWithReport, mapJudged, type Vendor } from "./vendor.ts";

interface LimitRow {
  readonly name: string;
  readonly published: string;
  /**
   * One text for each vendor, such as `✓ as published`. `not judged`: the vendor's report shows no result for this
   * limit. `no key`: the target has no key of this tier. `null`: the vendor was not judged.
   */
  readonly cells: readonly (string | null)[];
  readonly differs: boolean;
}

export interface TierRows {
  readonly tier: string;
  readonly rows: readonly LimitRow[];
}

interface LimitDefinition {
  readonly name: string;
  readonly published: (limits: TierLimits) => string;
  readonly text: (vendor: VendorWithReport, tier: string) => string;
}

const limitDefinitions: readonly LimitDefinition[] = [
  {
    name: "limit in the headers",
    published: ({ perHour, perMinute }) => `${perHour} or ${perMinute}`,
    text: limitsInHeaders,
  },
  judgedLimit("in a minute", ({ perMinute }) => String(perMinute), ["LIM-1", "LIM-2"]),
  judgedLimit("in an hour", ({ perHour }) => String(perHour), ["LIM-3", "LIM-4"]),
  judgedLimit("at once", ({ concurrent }) => String(concurrent), ["LIM-5", "LIM-6"]),
  judgedLimit("burst", ({ burst }) => (burst === null ? "" : String(burst)), ["LIM-7"]),
  observedLimit("the minute's window", "LIM-15/minute"),
  observedLimit("the hour's window", "LIM-15/hour"),
  observedLimit("refused requests", "LIM-16"),
];

export function tierRows(vendors: readonly Vendor[]): TierRows[] {
  const tiersOf = ({ document }: VendorWithReport): string[] => Object.values(document.report.target.tiers);
  const all = new Set(mapJudged(vendors, tiersOf).flatMap((tiers) => tiers ?? []));
  const known = tierNames.filter((tier) => all.has(tier));
  const others = [...all].filter((tier) => !known.some((each) => each === tier)).toSorted();
  return [...known, ...others].map((tier) => ({
    tier: sanitizeLine(tier, 40),
    rows: limitDefinitions.map((limit) => limitRow(limit, tier, vendors, tiersOf)),
  }));
}

function limitRow(
  { name, published, text }: LimitDefinition,
  tier: string,
  vendors: readonly Vendor[],
  tiersOf: (vendor: VendorWithReport) => readonly string[],
): LimitRow {
  const numbers = new Map<string, TierLimits>(Object.entries(publishedTiers)).get(tier);
  const cells = mapJudged(vendors, (vendor) => (tiersOf(vendor).includes(tier) ? text(vendor, tier) : noKeyText));
  const differs = cells.some((one, at) => cells.slice(at + 1).some((other) => areLimitsDifferent(one, other)));
  return { name, published: numbers === undefined ? "" : published(numbers), cells, differs };
}

/** Whether two cells of a row show different limits. `false` if either cell is `null`, `no key` or `not judged`. */
export const areLimitsDifferent = (one: string | null, other: string | null): boolean =>
  hasLimit(one) && hasLimit(other) && one !== other && !isEquivalentText(one, other);

const hasLimit = (cell: string | null): cell is string => cell !== null && cell !== noKeyText && cell !== notJudgedText;

const noKeyText = "no key";
const notJudgedText = "not judged";

function limitsInHeaders({ document }: VendorWithReport, tier: string): string {
  const { evidence, report } = document;
  if (evidence === null) return notJudgedText;
  const names = new Set(Object.entries(report.target.tiers).flatMap(([name, each]) => (each === tier ? [name] : [])));
  const values = evidence.exchanges.filter(({ key }) => key !== null && names.has(key)).flatMap(limitHeaderValues);
  const distinct = [...new Set(values)].toSorted((one, other) => Number(one) - Number(other));
  return distinct.length === 0 ? "none" : sanitizeLine(distinct.join(", "), 80);
}

const limitHeaderValues = (exchange: Exchange): string[] =>
  // A 401 response belongs to no tier, because the key was not valid.
  statusOf(exchange) === 401 ? [] : headerValues(exchange, headerNames.rateLimit);

function judgedLimit(
  name: string,
  published: LimitDefinition["published"],
  clauses: readonly string[],
): LimitDefinition {
  return { name, published, text: ({ document }, tier) => formatJudgedLimit(document.report.findings, clauses, tier) };
}

function formatJudgedLimit(findings: readonly ReportFinding[], clauses: readonly string[], tier: string): string {
  const rows = findings.filter(({ clause, instance }) => clauses.includes(clause) && instance === tier);
  const broken = rows.find(({ outcome }) => outcome === "fail");
  if (broken !== undefined) return `✕ ${broken.clause}: ${sanitizeLine(broken.actual ?? "", 160)}`;
  if (rows.some(({ outcome }) => outcome === "pass")) return "✓ as published";
  return notJudgedText;
}

function observedLimit(name: string, check: string): LimitDefinition {
  return { name, published: () => "", text: (vendor, tier) => formatWindowKinds(vendor, check, tier) };
}

const windowKindsPrefix = "what was seen fits these windows: ";

function formatWindowKinds({ document }: VendorWithReport, check: string, tier: string): string {
  const row = document.report.findings.find((each) => each.check === check && each.instance === tier);
  if (row?.outcome !== "observed") return notJudgedText;
  return sanitizeLine((row.reason ?? "").replace(windowKindsPrefix, ""), 160);
}
