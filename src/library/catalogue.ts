import type { Level, RequirementSet } from "../spec/clause.ts";
import { clauseOf } from "../spec/clauses.ts";
import { allFaults, allVariants } from "../reference/catalogue.ts";
import type { Patch } from "../reference/patch.ts";
import { type CheckSelection, selectSuites } from "./scope.ts";

/** A check, and the clause that it judges. */
export interface CheckEntry {
  /** Id of the check, such as `SSE-4`, or `SSE-4/name` if several checks judge one clause. */
  readonly id: string;
  readonly clause: string;
  readonly suite: string;
  readonly level: Level;
  /** The first requirement set that includes the check. */
  readonly since: RequirementSet;
  /** The clause, in one sentence. */
  readonly says: string;
}

/** Lists the selected checks, in the order of a report. Without a selection, lists all checks. */
export function listChecks(selection: CheckSelection = {}): CheckEntry[] {
  return selectSuites(selection).flatMap(({ title, checks }) =>
    checks.map(({ id, clause, since }) => {
      const { level, says } = clauseOf(clause);
      return { id, clause, suite: title, level, since, says };
    }),
  );
}

/** A deliberate fault or a legal variant of the reference server. */
export interface BehaviourEntry {
  readonly name: string;
  /** Heading of the section in the interface document that the fault or variant concerns. */
  readonly section: string;
  readonly summary: string;
  /** Ids of the clauses that the fault breaks. A variant can only break clauses of the level `advisory`. */
  readonly breaks: readonly string[];
}

const toBehaviourEntry = ({ name, section, summary, breaks }: Patch): BehaviourEntry => ({
  name,
  section,
  summary,
  breaks,
});

/** Every fault of the reference server. A fault makes the server break clauses on purpose. */
export const faults: readonly BehaviourEntry[] = allFaults.map(toBehaviourEntry);

/** Every variant of the reference server. A variant is legal behaviour that differs from the default. */
export const variants: readonly BehaviourEntry[] = allVariants.map(toBehaviourEntry);
