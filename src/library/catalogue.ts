import type { Level } from "../spec/clause.ts";
import { clauseOf } from "../spec/clauses.ts";
import type { RequirementSet } from "../spec/requirements.ts";
import { allFaults, allVariants } from "../reference/catalogue.ts";
import type { Patch } from "../reference/patch.ts";
import { type CheckSelection, selected } from "./scope.ts";

/** A check and its clause. */
export interface CheckEntry {
  /** `SSE-4`, or `SSE-4/name` if several checks judge one clause. */
  readonly id: string;
  readonly clause: string;
  readonly suite: string;
  readonly level: Level;
  /** The requirement set in which the check first counts. */
  readonly since: RequirementSet;
  /** The clause in one sentence. */
  readonly says: string;
}

/**
 * Every check, in the order of a report, or those of a selection.
 *
 * @throws {UsageProblem} if a pattern matches nothing.
 */
export function listChecks(selection: CheckSelection = {}): CheckEntry[] {
  return selected(selection).flatMap(({ title, checks }) =>
    checks.map(({ id, clause, since }) => {
      const { level, says } = clauseOf(clause);
      return { id, clause, suite: title, level, since, says };
    }),
  );
}

/** A fault or variant of the reference server. */
export interface BehaviourEntry {
  readonly name: string;
  /** Heading in the interface document that describes the behaviour. */
  readonly section: string;
  readonly summary: string;
  /** Clauses that it breaks; empty for a variant. */
  readonly breaks: readonly string[];
}

const entryOf = ({ name, section, summary, breaks }: Patch): BehaviourEntry => ({ name, section, summary, breaks });

/** Everything that the reference server can break on purpose. */
export const faults: readonly BehaviourEntry[] = allFaults.map(entryOf);

/** Every other legal behaviour of the reference server. */
export const variants: readonly BehaviourEntry[] = allVariants.map(entryOf);
