import { formatCount } from "../../base/text.ts";
import { formatShares } from "../model/profiles.ts";
import type { Latency } from "./latency-rows.ts";
import type { VendorComparison, VendorSummary } from "./comparison.ts";

/** Formats counts as `198 clauses passed, 1 broken, 2 warnings`. Leaves out zeros, except for passes. */
export function formatClauseCounts({ clauses }: JudgedSummary): string {
  const { passed, broken, warned, noted, notExercised } = clauses;
  const otherCounts = [
    [broken, "broken"],
    [warned, warned === 1 ? "warning" : "warnings"],
    [noted, noted === 1 ? "note" : "notes"],
    [notExercised, "not exercised"],
  ] as const;
  return [
    `${formatCount(passed, "clause")} passed`,
    ...otherCounts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`])),
  ].join(", ");
}

function formatMs(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${Math.round(ms)} ms`;
}

/** Formats median, 99th percentile and number of requests: `1.2 ms, p99 8.0 ms (33)`. Returns a dash for `null`. */
export const formatLatency = (latency: Latency | null): string =>
  latency === null ? "–" : `${formatMs(latency.median)}, p99 ${formatMs(latency.p99)} (${latency.count})`;

export function formatOverview({ vendors, sections, gaps, readings }: VendorComparison): string {
  const judged = vendors.filter(({ kind }) => kind === "judged");
  const conformant = vendors.filter((each) => each.kind === "judged" && each.verdict === "conformant").length;
  const differing = sections.flatMap(({ rows }) => rows).filter(({ differs }) => differs).length;
  const clauses = formatCount(differing, "clause");
  const otherReadings = formatCount(readings.filter(({ differs }) => differs).length, "reading");
  const observations = formatCount(gaps.filter(({ differs }) => differs).length, "observation");
  const unjudged = vendors.length - judged.length;
  const without = unjudged === 0 ? "" : `, ${unjudged} could not be judged`;
  const differ = judged.length < 2 ? "" : ` They differ in ${clauses}, ${otherReadings} and ${observations} of gaps.`;
  return `${formatCount(vendors.length, "deployment")}: ${conformant} conformant${without}.${differ}`;
}

export function comparisonNotes({ vendors, sections }: VendorComparison): string[] {
  const judged = vendors.flatMap((each) => (each.kind === "judged" ? [each] : []));
  const suites = new Set(judged.map(({ suite }) => `${suite.version} (clauses ${suite.clauses})`));
  const sets = new Set(judged.map(({ suite }) => suite.requirements));
  const places = Map.groupBy(judged, ({ fingerprint }) => fingerprint);
  const same = [...places.values()].filter((members) => members.length > 1);
  const kept = judged
    .filter(({ isKept }) => isKept)
    .map(({ name, started }) => `${name} of ${started.slice(0, 16).replace("T", " ")} UTC`);
  return [
    ...(suites.size > 1
      ? [
          `They were judged by different versions of the suite, which may explain differences: ${[...suites].join(", ")}.`,
        ]
      : []),
    ...(sets.size > 1
      ? [`They were judged by different requirement sets, which may explain differences: ${[...sets].join(", ")}.`]
      : []),
    ...missingClauseNotes(vendors, sections),
    ...same.map((members) => `${members.map(({ name }) => name).join(" and ")} look like the same deployment.`),
    ...(kept.length === 0 ? [] : [`Reports of earlier runs: ${kept.join(", ")}.`]),
    ...judged.flatMap(({ name, stopped }) => (stopped === null ? [] : [`${name}: stopped early (${stopped}).`])),
    ...judged.flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}`)),
  ];
}

function missingClauseNotes(vendors: VendorComparison["vendors"], sections: VendorComparison["sections"]): string[] {
  const rows = sections.flatMap((section) => section.rows);
  const incomplete = vendors.flatMap(({ name }, at) => {
    const count = rows.filter(({ cells }) => cells[at]?.outcome === "absent").length;
    return count === 0 ? [] : [`${name} (${formatCount(count, "clause")})`];
  });
  return incomplete.length === 0
    ? []
    : [`Not every report has every clause; a missing clause does not count as a difference: ${incomplete.join(", ")}.`];
}

type JudgedSummary = Extract<VendorSummary, { kind: "judged" }>;

export interface HeadRow {
  readonly name: "verdict" | "base URL" | "clauses" | "covered" | "requests" | "under load";
  readonly textOf: (head: JudgedSummary) => string;
}

export const headRows = (vendors: readonly VendorSummary[]): HeadRow[] => [
  { name: "verdict", textOf: ({ verdict }) => verdict },
  { name: "base URL", textOf: ({ baseUrl }) => baseUrl },
  { name: "clauses", textOf: formatClauseCounts },
  { name: "covered", textOf: ({ coverage }) => formatShares(coverage) || "–" },
  { name: "requests", textOf: ({ requests }) => String(requests) },
  ...(vendors.some((head) => head.kind === "judged" && head.load !== null)
    ? [{ name: "under load", textOf: formatLoad } as const]
    : []),
];

export const formatLoad = ({ load }: JudgedSummary): string =>
  load === null ? "–" : `${load.verdict}, ${load.broken} broken in ${load.runs} runs`;

export const questionsTitle = "What to ask";
export const questionsIntro =
  "Questions for each vendor: must clauses that could not be tried, and behaviour in which it differs from the others. At most ten.";

export const runTimesCaveat =
  "Times from sending to the head of the response, for the successful requests of the suites to the agent called most: median, p99 (of fewer than 100 requests nearly the slowest), and count. They were sent between other requests, and perhaps to several vendors at once: this is no load test.";
export const loadTimesCaveat =
  "Times of admitted load requests: median, p99, and count. The vendors were loaded one after the other.";

export const limitsCaveat =
  "Judged by the admitted and refused requests. If a cell names several kinds of window, each of them explains all requests.";
