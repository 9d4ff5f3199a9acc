import type { Outcome, Report, ReportFinding, RowLevel, Totals, Verdict } from "../report/report.ts";
import type { LoadFigure, Trial } from "./load-figures.ts";
import type { RegressionKind } from "./rules.ts";

/** Who was judged, by what, when, and with what result. */
export interface Side {
  readonly kind: "run" | "load";
  readonly target: Pick<Report["target"], "name" | "baseUrl" | "fingerprint">;
  readonly suite: Report["suite"];
  /** ISO 8601. */
  readonly started: string;
  readonly verdict: Verdict;
  /** Why it ended early; `null` where it did not. */
  readonly stopped: string | null;
  readonly totals: Totals;
}

/** What one side said of a finding. */
export type Said = Pick<ReportFinding, "outcome" | "reading" | "expected" | "actual" | "reason" | "needs" | "evidence">;

/** Which finding it is: the same (check, instance) in two reports is the same finding. */
export interface FindingName {
  readonly check: string;
  readonly clause: string;
  readonly suite: string;
  readonly level: RowLevel;
  /** Tier, or under load tier and engine; `null` where the check speaks of the target as a whole. */
  readonly instance: string | null;
}

/** A finding that both sides have. Its level is the newer side's. */
export interface FindingChange extends FindingName {
  readonly was: Said;
  readonly is: Said;
}

export interface ObservationChange extends FindingChange {
  /** Both texts can come of the same behaviour: they differ in times and dates, or in how much the evidence left open. */
  readonly immaterial: boolean;
}

/**
 * Why a finding stands in one report alone.
 *
 * `check`: the other suite has no such check; `unselected`: the other run's selection left its clause out; `unreached`: the other run was
 * stopped early; `instance`: the check ran there, for other tiers; `trial`: that load was not sent there; `silent`: the same suite said nothing
 * of it there.
 */
export type Absence = "check" | "unselected" | "unreached" | "instance" | "trial" | "silent";

/** A finding that one side alone has. */
export interface LoneFinding extends FindingName {
  readonly said: Said;
  readonly why: Absence;
}

/** What counts as a regression, and did happen. */
export interface Regression {
  readonly kind: RegressionKind;
  /** One sentence, without a line feed; texts of the target in it are harmless. */
  readonly says: string;
  /** The finding; `null` where it is a figure of load, or the verdict. */
  readonly finding: Pick<FindingName, "check" | "clause" | "instance"> | null;
}

/** From one value to another. */
export interface Change {
  readonly was: string;
  readonly is: string;
}

/** What became of the suite itself between the two reports. */
export interface SuiteChange {
  /** `null`: the same. */
  readonly version: Change | null;
  /** Hash of the clauses; `null`: the same. */
  readonly clauses: Change | null;
  /** Ids of checks that only the newer suite has, as far as the reports show it. */
  readonly came: readonly string[];
  readonly went: readonly string[];
}

/** Every finding of both sides stands in exactly one of these; `unchanged` counts those that stand in none of the lists. */
export interface FindingChanges {
  /** Now broken (or the harness failed at it), and less so before, or not judged. */
  readonly newlyFailing: readonly FindingChange[];
  /** Passes or is observed now, and was broken, or the harness had failed at it. */
  readonly fixed: readonly FindingChange[];
  /** Not exercised now, and judged before. */
  readonly newlySkipped: readonly FindingChange[];
  /** Passes or is observed now, and was not exercised before. */
  readonly noLongerSkipped: readonly FindingChange[];
  /** Broken then and now, and not worse. */
  readonly stillFailing: readonly FindingChange[];
  /** Passes both times, by another admissible reading. */
  readonly changedReadings: readonly FindingChange[];
  readonly changedObservations: readonly ObservationChange[];
  /** Only in the newer report. */
  readonly appeared: readonly LoneFinding[];
  /** Only in the older report. */
  readonly gone: readonly LoneFinding[];
  readonly unchanged: number;
}

/** What differs between two reports of the same kind. Plain JSON. */
export interface Comparison extends FindingChanges {
  readonly format: "agent-hosting-conformance/comparison/1";
  readonly older: Side;
  readonly newer: Side;
  /** What a reader must know before the rest: sentences. */
  readonly notes: readonly string[];
  /** `null`: both were judged by the same version and the same clauses. */
  readonly changedSuite: SuiteChange | null;
  /** Figures of load that both sides have, whether they changed or not. */
  readonly loadFigures: readonly LoadFigure[];
  /** Load that one side alone sent. */
  readonly loneTrials: { readonly older: readonly Trial[]; readonly newer: readonly Trial[] };
  readonly regressions: readonly Regression[];
}

/** From nothing to complain of to a breach. What was not judged is in no order with these. */
export const weights: Readonly<Record<Outcome, number | null>> = {
  pass: 0,
  observed: 0,
  note: 1,
  warning: 2,
  fail: 3,
  skipped: null,
  error: null,
};
