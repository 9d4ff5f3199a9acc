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
 * Lists every check, in the order of a report, or only the selected ones.
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

/** A fault or a variant of the reference server. */
export interface BehaviourEntry {
  readonly name: string;
  /** Heading of the interface document under which the behaviour is described. */
  readonly section: string;
  readonly summary: string;
  /** Clauses that the fault breaks; empty for a variant. */
  readonly breaks: readonly string[];
}

const entryOf = ({ name, section, summary, breaks }: Patch): BehaviourEntry => ({ name, section, summary, breaks });

/** Every fault of the reference server: behaviour that breaks clauses on purpose. */
export const faults: readonly BehaviourEntry[] = allFaults.map(entryOf);

/** Every variant of the reference server: behaviour that differs from the default and is legal. */
export const variants: readonly BehaviourEntry[] = allVariants.map(entryOf);
