import { checkEvery } from "../../run/judge/check-every.ts";
import type { Check, EvidenceOf, ProbesByName } from "../../run/judge/check.ts";
import type { Finding, Proof } from "../../run/judge/finding.ts";
import type { Probe } from "../../run/probe.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import type { JudgedId, ReadingOf } from "../../spec/clauses.ts";
import type { RequirementSet } from "../../spec/requirements.ts";

/** Two messages of a run that report the same fact, such as a response and a delivery. */
export interface ComparedPair {
  readonly first: Proof | null;
  readonly second: Proof;
}

interface RelationOptions<E, T extends ComparedPair, R extends string> {
  readonly as?: string;
  /** The first requirement set with this check. Default: 1.1. */
  readonly since?: RequirementSet;
  readonly also?: readonly Probe[];
  readonly between: string;
  readonly pairs: (evidence: E) => readonly T[];
  /** Returns how two messages contradict each other; `null` if they agree, `undefined` if they prove nothing. */
  readonly judge: (pair: T) => Mismatch | null | undefined;
  readonly otherwise: Finding<R> | ((evidence: E) => Finding<R>);
}

const comparedPairs = "pairs compared";

export const relation = <const K extends JudgedId, const P extends Probe | ProbesByName, T extends ComparedPair>(
  clause: K,
  on: P,
  { as, since = "1.1", also = [], between, pairs, judge, otherwise }: RelationOptions<EvidenceOf<P>, T, ReadingOf<K>>,
): Check =>
  checkEvery(clause, on, {
    ...(as !== undefined && { as }),
    since,
    also,
    matrix: { description: `every pair of the run: ${between}`, cells: [], coverageProbe: null },
    noun: "pairs",
    members: (evidence: EvidenceOf<P>) =>
      pairs(evidence).map((pair) => ({
        cell: { of: comparedPairs, kind: between },
        proof: pair.second,
        ...(pair.first !== null && { comparedWith: pair.first }),
        subject: pair,
      })),
    judge,
    whenEmpty: otherwise,
  });
