import type { Outcome, Report, RowLevel, Totals, Verdict } from "../report/report.ts";

export const nightFormat = "agent-hosting-conformance/night/1";

/** What one check said of one instance on one night. */
export interface NightFinding {
  readonly check: string;
  readonly clause: string;
  readonly suite: string;
  readonly level: RowLevel;
  readonly outcome: Outcome;
  readonly instance?: string;
  readonly reading?: string;
  /** What was asked of one that is broken. At most 300 characters, as `says`. */
  readonly expected?: string;
  /** What was seen, of one that is broken or observed; why, of one that was not exercised. */
  readonly says?: string;
}

/** Milliseconds; of how many requests. */
export interface NightLatency {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

/** Which load it is: the same scenario, tier and engine on two nights is the same load. */
export interface LoadName {
  readonly scenario: string;
  readonly tier: string | null;
  readonly engine: string;
}

/** The figures of one load run. */
export interface NightLoad extends LoadName {
  readonly requests: {
    readonly planned: number;
    readonly sent: number;
    readonly admitted: number;
    readonly refused: number;
    readonly failed: number;
    readonly unanswered: number;
  };
  readonly perSecond: { readonly sent: number; readonly admitted: number };
  readonly latencyMs: { readonly admitted: NightLatency | null; readonly refused: NightLatency | null };
  /** Why its counts, or its times, prove nothing; `null` where they do. */
  readonly validity: { readonly counts: string | null; readonly times: string | null };
}

/** A latency that a night was found to have changed for good. */
export interface TimeChange extends LoadName {
  /** Such as `admitted p50`. */
  readonly figure: string;
  readonly direction: "slower" | "faster";
  /** Medians, in milliseconds. */
  readonly wasMs: number;
  readonly isMs: number;
  /** Start of the first night that had it. ISO 8601. */
  readonly since: string;
  /** Part of a slow-down that was reported before; not reported again. */
  readonly isKnown: boolean;
}

/** A finding or a count that became worse, in the words in which it was reported. */
export interface ReportedRegression {
  readonly says: string;
  /** `null` where it is no finding's. */
  readonly check: string | null;
  readonly instance: string | null;
}

/** What was reported on a night, so that it is not reported on the next one again. */
export interface Reported {
  readonly regressions: readonly ReportedRegression[];
  readonly changes: readonly TimeChange[];
}

/** One night in the history: all that a page of a year and the next night's judgement need. Plain JSON; redacted as the report was. */
export interface Night {
  readonly format: typeof nightFormat;
  /** Name of its file and of its report's folder; sorts by time. */
  readonly id: string;
  /** ISO 8601. */
  readonly started: string;
  readonly finished: string;
  readonly suite: Report["suite"];
  readonly target: Pick<Report["target"], "name" | "baseUrl" | "fingerprint">;
  readonly verdict: Verdict;
  /** Why nothing could be judged, or why it was stopped early; `null` where it came to its end. */
  readonly stopped: string | null;
  readonly requests: number;
  readonly totals: Totals;
  readonly findings: readonly NightFinding[];
  readonly unselected: readonly string[];
  readonly load: readonly NightLoad[];
  /** Load that was sent a second time, to confirm what was suspected. */
  readonly second: readonly NightLoad[];
  readonly reported: Reported;
}

export const nothingReported: Reported = { regressions: [], changes: [] };

export const loadKey = ({ scenario, tier, engine }: LoadName): string => `${scenario} ${tier ?? "?"} ${engine}`;
