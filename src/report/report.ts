import type { Level } from "../interface/clause.ts";
import type { LoadPart } from "./load-part.ts";

/**
 * What became of a check.
 *
 * `pass`, `fail` (a `must` is broken), `warning` (a `should`), `note` (an `advisory`), `observed` (a gap), `skipped` (not
 * exercised, with the reason), `error` (the harness itself failed; never the target's fault).
 */
export const outcomes = ["pass", "fail", "warning", "note", "observed", "skipped", "error"] as const;
export type Outcome = (typeof outcomes)[number];

export const verdicts = ["conformant", "nonconformant", "partial", "incomplete"] as const;
/** `partial`: nothing broken, but some must clause was not exercised; `incomplete`: the run was stopped early. */
export type Verdict = (typeof verdicts)[number];

/** `load`: no clause says it, and a load scenario demands it all the same. What breaks it fails the run, and is no breach of the document. */
export type RowLevel = Level | "load";

/** One row of a report: what one check said of one instance of its probe. */
export interface ReportFinding {
  readonly check: string;
  /** Where the level is `load`, the name of what is demanded: `load/slow-refusals`. */
  readonly clause: string;
  readonly suite: string;
  readonly level: RowLevel;
  readonly outcome: Outcome;
  /** Tier that the probe ran for, where it runs once a tier; under load, tier and engine. */
  readonly instance?: string;
  readonly reading?: string;
  readonly expected?: string;
  readonly actual?: string;
  /** What was observed, why the check was skipped, or how the harness failed. */
  readonly reason?: string;
  /** What would enable a skipped check. */
  readonly needs?: string;
  /** The smallest part of a load that proves a breach, a line each. */
  readonly witness?: readonly string[];
  /** Ids of exchanges and deliveries in `evidence.json`; under load, the file of load evidence. */
  readonly evidence?: readonly string[];
}

export type Totals = Readonly<Record<Outcome, number>>;

/** A clause that no request can show, and why. */
export interface UntestableRow {
  readonly clause: string;
  readonly level: Level;
  readonly reason: string;
}

/** What a POST of the run can leave on the target. */
export const createdKinds = ["webhook", "alert", "operation"] as const;

/** Something that the run made on the target, and that stays there: the interface has no operation that deletes. */
export interface Created {
  readonly kind: (typeof createdKinds)[number];
  /** As the target gave it; `null` where its answer showed none. */
  readonly id: string | null;
  /** Name of the key that it was made with; `null` where no key of the target was. */
  readonly key: string | null;
  /** When the target answered. ISO 8601. */
  readonly at: string;
  /** Id of the exchange in `evidence.json`; under load, the file of load evidence. */
  readonly exchange: string;
}

export interface Report {
  readonly format: "agent-hosting-conformance/report/1";
  readonly suite: { readonly version: string; readonly clauses: string };
  readonly target: {
    readonly name: string;
    readonly baseUrl: string;
    /** A hash of what identifies the deployment: base URL, `Server` header and agent version. */
    readonly fingerprint: string;
    /** Tiers of the keys in use, by key name. */
    readonly tiers: Readonly<Record<string, string>>;
  };
  /** ISO 8601. */
  readonly started: string;
  readonly finished: string;
  readonly durationMs: number;
  readonly requests: number;
  readonly waitedMs: number;
  readonly verdict: Verdict;
  /** Why the run was stopped early, where it was. */
  readonly stopped?: string;
  readonly totals: Totals;
  readonly findings: readonly ReportFinding[];
  /** What the run left on the target; empty in reports of versions that made nothing. */
  readonly created: readonly Created[];
  /** Must clauses that have checks, and that `--only` or `--skip` left out. */
  readonly unselected: readonly string[];
  readonly untestable: readonly UntestableRow[];
  /** What load was sent; in reports of `conformance load` only. */
  readonly load?: LoadPart;
}
