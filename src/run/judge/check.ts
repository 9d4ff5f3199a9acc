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

export type EvidenceOf<P> =
  P extends Probe<infer E> ? E : { readonly [K in keyof P]: P[K] extends Probe<infer E> ? E : never };

/** Judges evidence against one clause. The function `judge` is pure and synchronous. */
export interface Check {
  /** An id such as `SSE-4`, or `SSE-4/name` if several checks judge one clause. */
  readonly id: string;
  readonly clause: ClauseId;
  readonly since: RequirementSet;
  readonly on: Probe | ProbesByName;
  /** The cases to which the clause applies; `null` if the check judges only the requests of its own probes. */
  readonly matrix: CoverageMatrix | null;
  /** Additional probes whose requests the check judges. Those that did not run are left out. */
  readonly also: readonly Probe[];
  /** Extra probes for a run that selects only this check. They send requests for the check to judge. */
  readonly companions?: readonly Probe[];
  /**
   * The check of the previous requirement set that this check repeats. This check also judges requests of newer probes.
   */
  readonly widens?: Check;
  /** Whether the report omits this check if it finds no breach. */
  readonly reportsOnlyBreaches?: boolean;
  readonly judge: (evidence: never) => Finding | Observation;
}

export interface CheckOptions {
  readonly as?: string;
  readonly since?: RequirementSet;
  readonly also?: readonly Probe[];
}

export const checkIdentity = (
  clause: ClauseId,
  { as, since = firstRequirements }: CheckOptions,
): Pick<Check, "id" | "clause" | "since"> => ({
  id: as === undefined ? clause : `${clause}/${as}`,
  clause,
  since: laterSet(since, clauseOf(clause).since),
});

/** Creates a check with a verdict. For an observation without a verdict, use {@link observe}. */
export const check = <const K extends JudgedId, const P extends Probe | ProbesByName>(
  clause: K,
  on: P,
  judge: (evidence: EvidenceOf<P>) => Finding<ReadingOf<K>>,
  options: CheckOptions = {},
): Check => ({ ...checkIdentity(clause, options), on, matrix: null, also: options.also ?? [], judge });

/** Creates a check for a gap in the document. The check records the target's behaviour, without a verdict. */
export const observe = <const K extends GapId, const P extends Probe | ProbesByName>(
  clause: K,
  on: P,
  describe: (evidence: EvidenceOf<P>) => Observation,
  options: CheckOptions = {},
): Check => ({ ...checkIdentity(clause, options), on, matrix: null, also: options.also ?? [], judge: describe });

export const isProbe = (on: Probe | ProbesByName): on is Probe => typeof on["run"] === "function";

export const probesOf = (on: Probe | ProbesByName): ProbesByName => (isProbe(on) ? { only: on } : on);

const isOfWholeRun = ({ on }: Check): boolean => Object.values(probesOf(on)).some(({ narrow }) => narrow !== undefined);

/**
 * Copies whole-run checks into later requirement sets, to judge requests of newer probes. The published checks stay
 * unchanged.
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

export const filterChecks = (suites: readonly Suite[], isKept: (check: Check, title: string) => boolean): Suite[] =>
  suites.map(({ title, checks }) => ({ title, checks: checks.filter((each) => isKept(each, title)) }));
