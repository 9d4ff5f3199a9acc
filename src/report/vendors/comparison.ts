import { type CoverageShares, reportShares } from "../model/profiles.ts";
import { clauseCountsOf, failedClauses } from "../model/verdict.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Report, Verdict } from "../model/report.ts";
import { type ClauseSection, clauseSections, gapRows, readingRows, type BehaviourRow } from "./clause-rows.ts";
import { type LatencyRow, latencyRows, loadLatencyRows, type StreamingRow, streamingRows } from "./latency-rows.ts";
import { type TierRows, tierRows } from "./limit-rows.ts";
import { type ProfileRow, profileRows, rankVendors } from "./profile-rows.ts";
import { vendorQuestions, type VendorQuestion } from "./questions.ts";
import { type VendorSwitch, vendorSwitches } from "./switches.ts";
import type { Vendor, VendorWithReport } from "./vendor.ts";

type ClauseCounts = Omit<ReturnType<typeof clauseCountsOf>, "observed">;

/**
 * Summary of a vendor for the heading of its column: name, verdict and counts, or the reason why the vendor was not
 * judged.
 */
export type VendorSummary =
  | {
      readonly kind: "judged";
      readonly name: string;
      readonly baseUrl: string;
      readonly fingerprint: string;
      readonly tiers: readonly string[];
      readonly suite: Report["suite"];
      readonly started: string;
      readonly isKept: boolean;
      readonly verdict: Verdict;
      readonly stopped: string | null;
      readonly clauses: ClauseCounts;
      readonly coverage: CoverageShares;
      readonly requests: number;
      /** Result of the vendor's load report; `null` if there is no load report. */
      readonly load: { readonly verdict: Verdict; readonly broken: number; readonly runs: number } | null;
      readonly notes: readonly string[];
    }
  | { readonly kind: "unjudged"; readonly name: string; readonly baseUrl: string | null; readonly reason: string };

/**
 * A comparison of several deployments. A row's cells follow the order of `vendors`; the cell of an unjudged vendor is
 * `null`.
 */
export interface VendorComparison {
  readonly format: "agent-hosting-conformance/vendors/1";
  /** When the comparison was made, ISO 8601. */
  readonly made: string;
  readonly vendors: readonly VendorSummary[];
  readonly profiles: readonly ProfileRow[];
  readonly sections: readonly ClauseSection[];
  /** For each clause with several allowed readings, the reading that each vendor follows. */
  readonly readings: readonly BehaviourRow[];
  readonly gaps: readonly BehaviourRow[];
  readonly questions: readonly (readonly VendorQuestion[] | null)[];
  readonly switches: readonly VendorSwitch[];
  readonly limits: readonly TierRows[];
  readonly streaming: readonly StreamingRow[];
  readonly latencies: {
    /** Latencies in conformance runs, which send few requests. `ofLoad` has the latencies in load runs. */
    readonly ofRuns: readonly LatencyRow[];
    readonly ofLoad: readonly LatencyRow[];
  };
}

/**
 * Compares the reports of several vendors. If `from` names a vendor, `switches` has only the switches from that vendor
 * to each other judged vendor.
 */
export function compareVendors(listed: readonly Vendor[], made: string, from: string | null = null): VendorComparison {
  const vendors = rankVendors(listed);
  const [readings, gaps] = [readingRows(vendors), gapRows(vendors)];
  const tables = { profiles: profileRows(vendors), sections: clauseSections(vendors), limits: tierRows(vendors) };
  return {
    format: "agent-hosting-conformance/vendors/1",
    made,
    vendors: vendors.map(vendorSummary),
    ...tables,
    readings: readings.map(({ row }) => row),
    gaps: gaps.map(({ row }) => row),
    questions: vendorQuestions(vendors, readings, gaps),
    switches: vendorSwitches(vendors, { ...tables, readings, gaps }, from),
    streaming: streamingRows(vendors),
    latencies: { ofRuns: latencyRows(vendors), ofLoad: loadLatencyRows(vendors) },
  };
}

export function vendorSummary(vendor: Vendor): VendorSummary {
  const name = sanitizeLine(vendor.name, 60);
  if (vendor.kind === "unjudged") {
    const baseUrl = vendor.baseUrl === null ? null : sanitizeLine(vendor.baseUrl, 200);
    return { kind: "unjudged", name, baseUrl, reason: sanitizeLine(vendor.reason, 400) };
  }
  const { report } = vendor.document;
  const { observed: _, ...clauses } = clauseCountsOf(report.findings);
  return {
    kind: "judged",
    name,
    baseUrl: sanitizeLine(report.target.baseUrl, 200),
    fingerprint: sanitizeLine(report.target.fingerprint, 40),
    tiers: [...new Set(Object.values(report.target.tiers).map((tier) => sanitizeLine(tier, 40)))],
    suite: {
      version: sanitizeLine(report.suite.version, 40),
      clauses: sanitizeLine(report.suite.clauses, 40),
      requirements: sanitizeLine(report.suite.requirements, 40),
    },
    started: report.started,
    isKept: vendor.isKept,
    verdict: report.verdict,
    stopped: report.stopped === undefined ? null : sanitizeLine(report.stopped, 200),
    clauses,
    coverage: reportShares(report),
    requests: report.requests,
    load: loadSummary(vendor),
    notes: vendor.notes.map((note) => sanitizeLine(note, 400)),
  };
}

function loadSummary({ load }: VendorWithReport) {
  if (load === null) return null;
  const { verdict, findings, load: results } = load.report;
  return { verdict, broken: failedClauses(findings).length, runs: results?.runs.length ?? 0 };
}
