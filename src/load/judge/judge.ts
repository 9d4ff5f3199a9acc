import type { Scenario } from "../scenarios.ts";
import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import { breachedClause, type AdmissionClause, describeBreach } from "./breach-clause.ts";
import { type ClaimJudge, clauseJudges, observedAlways, loadOnlyJudges, perResponseClauses } from "./clause-judges.ts";
import { factsOf, type KeyFacts, type LoadFacts } from "./facts.ts";
import { type LoadFinding, type JudgeResult, unproven } from "./finding.ts";

/** Clauses that a scenario may claim. */
export const claimable: ReadonlySet<string> = new Set(Object.keys(clauseJudges));

/**
 * Judges load evidence by the claims of its scenario: pure, so that kept evidence gives the same word again. What breaks a limit is
 * reported even where the scenario does not claim that clause. A run in which the generator was the bottleneck is no verdict: its
 * findings say so.
 *
 * @throws {Error} where the scenario claims a clause that no judge knows
 */
export function judgeLoad(evidence: LoadEvidence, scenario: Scenario): LoadFinding[] {
  const facts = factsOf(evidence, scenario);
  const row = (name: string, clause: string | null, { as, restsOn, judge }: ClaimJudge): LoadFinding => ({
    check: `${name}/${scenario.name}${as === undefined ? "" : `/${as}`}`,
    clause,
    instance: evidence.tier,
    ...asFarAsValid(facts, restsOn, judge),
  });
  const applicable = (judges: readonly ClaimJudge[]): ClaimJudge[] =>
    judges.filter(({ applies }) => applies?.(facts) ?? true);
  const claimed = scenario.claims.flatMap((clause) =>
    applicable(judgesOf(clause)).map((judge) => row(clause, clause, judge)),
  );
  const observed = observedAlways
    .filter((clause) => !scenario.claims.includes(clause))
    .flatMap((clause) => judgesOf(clause).map((judge) => row(clause, clause, judge)))
    .filter(({ kind }) => kind === "observed");
  const own = Object.entries(loadOnlyJudges).flatMap(([name, judge]) =>
    judge.scenarios === "all" || judge.scenarios.includes(scenario.name)
      ? applicable([judge]).map((one) => row(`load/${name}`, null, one))
      : [],
  );
  const broken = perResponseClauses
    .filter((clause) => !scenario.claims.includes(clause))
    .flatMap((clause) => judgesOf(clause).map((judge) => row(clause, clause, judge)))
    .filter(({ kind }) => kind === "breach");
  return [...generatorRow(facts), ...claimed, ...unclaimed(facts, claimed), ...broken, ...observed, ...own];
}

function judgesOf(clause: string): readonly ClaimJudge[] {
  const judges = clauseJudges[clause];
  if (judges === undefined)
    throw new Error(`no judge of load knows the clause ${clause}: add one to src/load/judge/clause-judges.ts`);
  return judges;
}

/** What was dropped or lost takes the proof from a pass; a breach of what was sent stays one, but for a generator that fell behind. */
function asFarAsValid(facts: LoadFacts, restsOn: ClaimJudge["restsOn"], judge: ClaimJudge["judge"]): JudgeResult {
  const { counts, pace, invalid } = facts.validity;
  if (invalid !== null) return unproven(`the run is invalid: ${invalid}`);
  if (restsOn === "pace" && pace !== null) return unproven(`the run is invalid for times: ${pace}`);
  const said = judge(facts);
  return restsOn !== "each" && counts !== null && said.kind === "holds" ? unproven(counts) : said;
}

/** A row that says why the run is no verdict, or why its times are none. */
function generatorRow({ validity: { invalid, pace }, scenario, evidence }: LoadFacts): LoadFinding[] {
  const reason = invalid ?? pace;
  if (reason === null) return [];
  const what =
    invalid === null
      ? "the run is invalid for times and rates, exact counts are judged"
      : "the run is invalid, and no verdict on the target";
  return [
    {
      check: `load/generator/${scenario.name}`,
      clause: null,
      instance: evidence.tier,
      ...unproven(`${what}: ${reason}`),
    },
  ];
}

/** A limit that is broken under a scenario that claims another. */
function unclaimed(facts: LoadFacts, claimed: readonly LoadFinding[]): LoadFinding[] {
  if (facts.validity.invalid !== null) return [];
  const { main, second, scenario, evidence } = facts;
  const uses: KeyFacts[] = second === null ? [main] : [main, second];
  const known = new Set(claimed.flatMap(({ kind, clause }) => (kind === "breach" && clause !== null ? [clause] : [])));
  return uses.flatMap((use): LoadFinding[] => {
    const broken = breachedClause(use, facts);
    if (broken === null || isKnown(broken.clause, known, use)) return [];
    known.add(broken.clause);
    return [
      {
        check: `${broken.clause}/${scenario.name}`,
        clause: broken.clause,
        instance: evidence.tier,
        ...describeBreach(broken.judged, use, facts),
      },
    ];
  });
}

/** A broken limit comes under its own name, or under that of what caused it. */
function isKnown(clause: AdmissionClause, known: ReadonlySet<string>, use: KeyFacts): boolean {
  const causes: readonly string[] =
    clause === "LIM-5"
      ? ["LIM-18"]
      : use.key === "second"
        ? ["LIM-9"]
        : ["LIM-7", "LIM-10", "LIM-9", "LIM-11", "HLT-16"];
  return known.has(clause) || causes.some((cause) => known.has(cause));
}
