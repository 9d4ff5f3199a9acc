import { checkEvery } from "../../run/judge/check-every.ts";
import type { Check, EvidenceOf, Probes } from "../../run/judge/check.ts";
import type { Finding, Proof } from "../../run/judge/finding.ts";
import type { Probe } from "../../run/probe.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import type { JudgedId, ReadingOf } from "../../spec/clauses.ts";

/** Two messages of a run that say something about the same thing. */
export interface Pair {
  /** The message to compare with. `null` if no other message of the run is about the same thing. */
  readonly first: Proof | null;
  readonly second: Proof;
}

interface RelationOptions<E, T extends Pair, R extends string> {
  /** The last part of the check's id. */
  readonly as?: string;
  /** Probes that add pairs. The check also works without them. */
  readonly also?: readonly Probe[];
  /** The pairs in two or three words. The coverage of a report names them so. */
  readonly between: string;
  /** All pairs of the run. */
  readonly pairs: (evidence: E) => readonly T[];
  /** Compares one pair: the mismatch, `null` if there is none, `undefined` if the pair shows nothing. */
  readonly judge: (pair: T) => Mismatch | null | undefined;
  /** The finding if no pair shows anything. */
  readonly otherwise: Finding<R> | ((evidence: E) => Finding<R>);
}

/** The row of coverage for relations. */
export const comparedPairs = "pairs compared";

/** Creates a check of what must hold between two messages. It compares every pair of the run, whatever probe sent them. */
export const relation = <const K extends JudgedId, const P extends Probe | Probes, T extends Pair>(
  clause: K,
  on: P,
  { as, also = [], between, pairs, judge, otherwise }: RelationOptions<EvidenceOf<P>, T, ReadingOf<K>>,
): Check =>
  checkEvery(clause, on, {
    ...(as !== undefined && { as }),
    since: "1.1",
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
