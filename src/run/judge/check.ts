import { type ClauseId, clauseOf, type GapId, type JudgedId, type ReadingOf } from "../../spec/clauses.ts";
import {
  firstRequirements,
  isLaterThan,
  laterSet,
  newestRequirements,
  type RequirementSet,
  requirementSets,
} from "../../spec/requirements.ts";
import type { Finding, Observation } from "./finding.ts";
import type { Probe } from "../probe.ts";
import type { CoverageMatrix } from "./coverage.ts";

export type ProbesByName = Readonly<Record<string, Probe>>;

/**
 * The evidence that a check gets: that of its only probe, or that of several probes by the names that the check gives
 * them.
 */
export type EvidenceOf<P> =
  P extends Probe<infer E> ? E : { readonly [K in keyof P]: P[K] extends Probe<infer E> ? E : never };

/** Judges evidence against one clause. Pure and synchronous. */
export interface Check {
  /** `SSE-4`, or `SSE-4/name` if several checks judge one clause. */
  readonly id: string;
  readonly clause: ClauseId;
  /** The requirement set in which the check first counts. */
  readonly since: RequirementSet;
  readonly on: Probe | ProbesByName;
  /** The cells of cases that the clause covers. `null` if the check judges only the requests of its own probes. */
  readonly matrix: CoverageMatrix | null;
  /** Probes that add cases to the evidence. If they did not run, the check judges the other cases. */
  readonly also: readonly Probe[];
  /**
   * Probes of other checks whose requests this check judges as well. If the user selects only this check, these probes
   * run, too.
   */
  readonly companions?: readonly Probe[];
  /**
   * The check of an earlier requirement set that this check repeats for the requests of later probes. If this check
   * finds nothing new, only the earlier one is reported.
   */
  readonly widens?: Check;
  /** Whether a check that repeats an earlier one reports only a breach, and no further cases. */
  readonly reportsOnlyBreaches?: boolean;
  readonly judge: (evidence: never) => Finding | Observation;
}

export interface CheckOptions {
  /** The last part of the check's id, if its clause has several checks. */
  readonly as?: string;
  /** The requirement set in which the check first counts, if it is later than that of the clause. */
  readonly since?: RequirementSet;
  /** Probes that add cases to the evidence. If they did not run, the check judges the other cases. */
  readonly also?: readonly Probe[];
}

/** The id of a check, and the requirement set in which it first counts. */
export const identityOf = (
  clause: ClauseId,
  { as, since = firstRequirements }: CheckOptions,
): Pick<Check, "id" | "clause" | "since"> => ({
  id: as === undefined ? clause : `${clause}/${as}`,
  clause,
  since: laterSet(since, clauseOf(clause).since),
});

/**
 * Creates a check of a clause. The types refuse a gap, an unknown clause id, and a reading that the clause does not
 * list.
 */
export const check = <const K extends JudgedId, const P extends Probe | ProbesByName>(
  clause: K,
  on: P,
  judge: (evidence: EvidenceOf<P>) => Finding<ReadingOf<K>>,
  options: CheckOptions = {},
): Check => ({ ...identityOf(clause, options), on, matrix: null, also: options.also ?? [], judge });

/** Creates an observation of a gap: it records how the target behaves where the document is silent. */
export const observe = <const K extends GapId, const P extends Probe | ProbesByName>(
  clause: K,
  on: P,
  describe: (evidence: EvidenceOf<P>) => Observation,
  options: CheckOptions = {},
): Check => ({ ...identityOf(clause, options), on, matrix: null, also: options.also ?? [], judge: describe });

export const isProbe = (on: Probe | ProbesByName): on is Probe => typeof on["run"] === "function";

/** The probes whose evidence a check judges, by name. A single probe is called `only`. */
export const probesOf = (on: Probe | ProbesByName): ProbesByName => (isProbe(on) ? { only: on } : on);

/** Whether a check judges exchanges of the whole run, including those of probes that later requirement sets added. */
const isOfWholeRun = ({ on }: Check): boolean => Object.values(probesOf(on)).some(({ narrow }) => narrow !== undefined);

/**
 * Repeats each check of an earlier requirement set in every later set, where it also judges the requests of newer
 * probes. The earlier check ignores these requests, because a published check must not become stricter. The requests of
 * set 1.2 are so few that its repetitions report only breaches.
 */
export const withWidened = ({ title, checks }: Suite): Suite => ({
  title,
  checks: checks.flatMap((earlier) => {
    if (clauseOf(earlier.clause).level === "gap" || !isOfWholeRun(earlier)) return [earlier];
    return requirementSets
      .filter((each) => isLaterThan(earlier.since, each))
      .reduce<Check[]>((chain, since) => [...chain, repeatInSet(since, earlier, chain.at(-1) ?? earlier)], [earlier]);
  }),
});

function repeatInSet(since: RequirementSet, earlier: Check, widens: Check): Check {
  const { id, clause } = earlier;
  const name = `${id}${id === clause ? "/" : " "}in requests of ${since}`;
  return { ...earlier, id: name, since, widens, reportsOnlyBreaches: since === newestRequirements };
}

/** The checks of one section of the document. */
export interface Suite {
  readonly title: string;
  readonly checks: readonly Check[];
}

export const suite = (title: string, checks: readonly Check[]): Suite => ({ title, checks });
