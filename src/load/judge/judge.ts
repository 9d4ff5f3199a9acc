import { type Scenario, scenarios } from "../scenarios.ts";
import { clauseOf, isClauseId } from "../../spec/clauses.ts";
import { firstRequirementSet, laterSet, type RequirementSet } from "../../spec/clause.ts";
import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import { breachedClause, type AdmissionClause, toBreachResult } from "./breach-clause.ts";
import {
  type ClaimJudge,
  clauseJudges,
  alwaysObservedClauses,
  undocumentedRequirementJudges,
  perResponseClauses,
} from "./clause-judges.ts";
import { factsOf, type KeyFacts, keyFactsIn, type LoadFacts } from "./facts.ts";
import { type LoadFinding, type JudgeResult, unproven } from "./finding.ts";

export const claimableClauses: ReadonlySet<string> = new Set(Object.keys(clauseJudges));

export const loadChecks = (): {
  readonly id: string;
  readonly clause: string | null;
  readonly since: RequirementSet;
}[] =>
  scenarios.flatMap((scenario) => [
    ...scenario.claims.flatMap((clause) =>
      judgesOf(clause).map((judge) => ({
        id: checkId(clause, scenario, judge),
        clause,
        since: sinceOf(clause, scenario, judge.since),
      })),
    ),
    ...loadOnlyJudgesOf(scenario).map(([name, judge]) => ({
      id: checkId(name, scenario, judge),
      clause: null,
      since: sinceOf(null, scenario, judge.since),
    })),
  ]);

const checkId = (name: string, scenario: Pick<Scenario, "name">, { as }: Pick<ClaimJudge, "as">): string =>
  `${name}/${scenario.name}${as === undefined ? "" : `/${as}`}`;

const loadOnlyJudgesOf = ({ name }: Pick<Scenario, "name">): [string, ClaimJudge][] =>
  Object.entries(undocumentedRequirementJudges).flatMap(([demand, judge]) =>
    judge.scenarios === "all" || judge.scenarios.includes(name) ? [[`load/${demand}`, judge]] : [],
  );

/** Judges the clauses that the scenario tests. For some other clauses, reports only a breach or an observation. */
export function judgeLoad(evidence: LoadEvidence, scenario: Scenario): LoadFinding[] {
  const facts = factsOf(evidence, scenario);
  const findingOf = (name: string, clause: string | null, judge: ClaimJudge): LoadFinding =>
    toFinding(facts, name, clause, judgeIfValid(facts, judge), judge);
  const applicable = (judges: readonly ClaimJudge[]): ClaimJudge[] =>
    judges.filter(({ applies }) => applies?.(facts) ?? true);
  const claimed = scenario.claims.flatMap((clause) =>
    applicable(judgesOf(clause)).map((judge) => findingOf(clause, clause, judge)),
  );
  const unclaimed = (clauses: readonly string[], kind: LoadFinding["kind"]): LoadFinding[] =>
    clauses
      .filter((clause) => !scenario.claims.includes(clause))
      .flatMap((clause) => judgesOf(clause).map((judge) => findingOf(clause, clause, judge)))
      .filter((finding) => finding.kind === kind);
  const own = loadOnlyJudgesOf(scenario).flatMap(([name, judge]) =>
    applicable([judge]).map((one) => findingOf(name, null, one)),
  );
  return [
    ...generatorFinding(facts),
    ...claimed,
    ...unclaimedBreaches(facts, claimed),
    ...unclaimed(perResponseClauses, "breach"),
    ...unclaimed(alwaysObservedClauses, "observed"),
    ...own,
  ];
}

const toFinding = (
  { scenario, evidence }: LoadFacts,
  name: string,
  clause: string | null,
  result: JudgeResult,
  judge: Pick<ClaimJudge, "as" | "since"> = {},
): LoadFinding => ({
  check: checkId(name, scenario, judge),
  clause,
  since: sinceOf(clause, scenario, judge.since),
  instance: evidence.tier,
  ...result,
});

/** Returns the first requirement set that contains the scenario, the clause and the judge. */
export const sinceOf = (
  clause: string | null,
  scenario: Pick<Scenario, "since">,
  own: RequirementSet = firstRequirementSet,
): RequirementSet =>
  [
    scenario.since ?? firstRequirementSet,
    clause !== null && isClauseId(clause) ? clauseOf(clause).since : firstRequirementSet,
  ].reduce(laterSet, own);

function judgesOf(clause: string): readonly ClaimJudge[] {
  const judges = clauseJudges[clause];
  if (judges === undefined)
    throw new Error(`no judge of load knows the clause ${clause}: add one to src/load/judge/clause-judges.ts`);
  return judges;
}

/**
 * Returns the judge's result, or `unproven` if the run is invalid or its evidence does not meet `restsOn`. For
 * `counts`, only a pass becomes `unproven`: missing requests do not disprove a breach.
 */
function judgeIfValid(facts: LoadFacts, { restsOn, judge }: ClaimJudge): JudgeResult {
  const { counts, pace, invalid } = facts.validity;
  if (invalid !== null) return unproven(`the run is invalid: ${invalid}`);
  if (restsOn === "pace" && pace !== null) return unproven(`the run is invalid for times: ${pace}`);
  const result = judge(facts);
  return restsOn !== "each" && counts !== null && result.kind === "holds" ? unproven(counts) : result;
}

function generatorFinding(facts: LoadFacts): LoadFinding[] {
  const { invalid, pace } = facts.validity;
  const reason = invalid ?? pace;
  if (reason === null) return [];
  const what =
    invalid === null
      ? "the run is invalid for times and rates, exact counts are judged"
      : "the run is invalid, and no verdict on the target";
  return [toFinding(facts, "load/generator", null, unproven(`${what}: ${reason}`))];
}

function unclaimedBreaches(facts: LoadFacts, claimed: readonly LoadFinding[]): LoadFinding[] {
  if (facts.validity.invalid !== null) return [];
  const known = new Set(claimed.flatMap(({ kind, clause }) => (kind === "breach" && clause !== null ? [clause] : [])));
  return keyFactsIn(facts).flatMap((use): LoadFinding[] => {
    const broken = breachedClause(use, facts);
    if (broken === null || isKnown(broken.clause, known, use)) return [];
    known.add(broken.clause);
    return [toFinding(facts, broken.clause, broken.clause, toBreachResult(broken.judged, use, facts))];
  });
}

function isKnown(clause: AdmissionClause, known: ReadonlySet<string>, use: KeyFacts): boolean {
  const causes: readonly string[] =
    clause === "LIM-5"
      ? ["LIM-18"]
      : use.key === "second"
        ? ["LIM-9"]
        : ["LIM-7", "LIM-10", "LIM-9", "LIM-11", "HLT-16"];
  return known.has(clause) || causes.some((cause) => known.has(cause));
}
