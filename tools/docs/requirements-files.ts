import { loadChecks } from "../../src/load/judge/judge.ts";
import { clauseIds, clauseOf } from "../../src/spec/clauses.ts";
import { countsIn, type RequirementSet, requirementSets } from "../../src/spec/clause.ts";
import { allSuites } from "../../src/suites/all.ts";

/** Released requirement sets, with the SHA-256 of their files. These files must not change. */
export const frozenRequirements: Readonly<Partial<Record<RequirementSet, string>>> = {
  "1.0": "2565b7e39807b65970e1705206b6f04b464d42836a93842eb49f8ac90117e616",
};

/** Requirement sets that may still change. `npm run docs` updates their files. */
export const openRequirements: readonly RequirementSet[] = requirementSets.filter(
  (each) => frozenRequirements[each] === undefined,
);

export const requirementsPath = (requirements: RequirementSet): string => `requirements/${requirements}.json`;

interface CheckRow {
  readonly id: string;
  readonly clause: string | null;
  readonly since: RequirementSet;
}

/** Returns the content of a requirement set's file. `demands` lists the load checks without a clause. */
export function requirementsFile(requirements: RequirementSet): string {
  const counts = ({ since }: Pick<CheckRow, "since">): boolean => countsIn(since, requirements);
  const checks: readonly CheckRow[] = allSuites.flatMap((suite) => suite.checks).filter(counts);
  const load: readonly CheckRow[] = loadChecks().filter(counts);
  const clauses = clauseIds
    .filter((id) => counts(clauseOf(id)))
    .map((id) => {
      const { level } = clauseOf(id);
      return `    "${id}": { "level": "${level}", "checks": ${idsOf(checks, id)}, "load": ${idsOf(load, id)} }`;
    });
  return `{
  "format": "agent-hosting-conformance/requirements/1",
  "requirements": "${requirements}",
  "clauses": {
${clauses.join(",\n")}
  },
  "demands": ${idsOf(load, null)}
}
`;
}

const idsOf = (checks: readonly CheckRow[], of: string | null): string =>
  `[${checks
    .flatMap(({ id, clause }) => (clause === of ? [JSON.stringify(id)] : []))
    .toSorted()
    .join(", ")}]`;
