import { type ClauseId, clauseOf, type GapId, type JudgedId, type ReadingOf } from "../../spec/clauses.ts";
import { firstRequirements, laterSet, newestRequirements, type RequirementSet } from "../../spec/requirements.ts";
import type { Finding, Observation } from "./finding.ts";
import type { Probe } from "../probe.ts";
import type { CoverageMatrix } from "./coverage.ts";

export type Probes = Readonly<Record<string, Probe>>;

/** The evidence of one probe, or of several by the names that the check gives them. */
export type EvidenceOf<P> =
  P extends Probe<infer E> ? E : { readonly [K in keyof P]: P[K] extends Probe<infer E> ? E : never };

/** Judges evidence against one clause. Pure and synchronous. */
export interface Check {
  /** `SSE-4`, or `SSE-4/name` if several checks judge one clause. */
  readonly id: string;
  readonly clause: ClauseId;
  /** The requirement set in which the check first counts. */
  readonly since: RequirementSet;
  readonly on: Probe | Probes;
  /** The cases that the clause covers. `null` if the check judges only what its own probes sent. */
  readonly matrix: CoverageMatrix | null;
  /** Probes that add cases to the evidence. The check also works without them. */
  readonly also: readonly Probe[];
  /**
   * Probes of other checks whose requests this check judges as well. A run of selected checks sends them, too. In a
   * full run they change nothing.
   */
  readonly companions?: readonly Probe[];
  /**
   * The check of an earlier requirement set that this check repeats for requests of later probes. If both findings are
   * the same, only the earlier one is reported.
   */
  readonly widens?: Check;
  readonly judge: (evidence: never) => Finding | Observation;
}

export interface CheckOptions {
  /** The last part of the check's id, if its clause has several checks. */
  readonly as?: string;
  /** The requirement set in which the check first counts, if it is later than that of the clause. */
  readonly since?: RequirementSet;
  /** Probes that add cases to the evidence. The check also works without them. */
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

/** Creates a check of a clause. A gap, an unknown id or an inadmissible reading does not compile. */
export const check = <const K extends JudgedId, const P extends Probe | Probes>(
  clause: K,
  on: P,
  judge: (evidence: EvidenceOf<P>) => Finding<ReadingOf<K>>,
  options: CheckOptions = {},
): Check => ({ ...identityOf(clause, options), on, matrix: null, also: options.also ?? [], judge });

/** Creates an observation: what the target does where the document says nothing. */
export const observe = <const K extends GapId, const P extends Probe | Probes>(
  clause: K,
  on: P,
  describe: (evidence: EvidenceOf<P>) => Observation,
  options: CheckOptions = {},
): Check => ({ ...identityOf(clause, options), on, matrix: null, also: options.also ?? [], judge: describe });

export const isProbe = (on: Probe | Probes): on is Probe => typeof on["run"] === "function";

/** The probes whose evidence a check judges, by name. A single probe is called `only`. */
export const probesOf = (on: Probe | Probes): Probes => (isProbe(on) ? { only: on } : on);

/** Whether the evidence of a check contains what other probes sent, those of later sets included. */
const isOfWholeRun = ({ on }: Check): boolean => Object.values(probesOf(on)).some(({ narrow }) => narrow !== undefined);

/**
 * Adds to the newest set, for each earlier check, one with the same rule for requests of later probes. The earlier
 * check itself ignores these requests, because it must not become stricter.
 */
export const withWidened = ({ title, checks }: Suite): Suite => ({
  title,
  checks: checks.flatMap((earlier) => {
    const { id, clause, since } = earlier;
    if (since === newestRequirements || clauseOf(clause).level === "gap" || !isOfWholeRun(earlier)) return [earlier];
    const name = `${id}${id === clause ? "/" : " "}in requests of ${newestRequirements}`;
    return [earlier, { ...earlier, id: name, since: newestRequirements, widens: earlier }];
  }),
});

/** The checks of one section of the document. */
export interface Suite {
  readonly title: string;
  readonly checks: readonly Check[];
}

export const suite = (title: string, checks: readonly Check[]): Suite => ({ title, checks });
