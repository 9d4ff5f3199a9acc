import { sumOf } from "../../base/numbers.ts";
import { type BodyRule, bodyRules } from "../../rules/bodies/rules.ts";
import type { SecondCounts } from "../load-evidence.ts";
import { hasCountsOnly, type LoadFacts } from "./facts.ts";
import { type FlowEndpoint, judgeResponses, judgeSecondCounts, type SecondCountsResult } from "./responses.ts";
import type { JudgeResult } from "./finding.ts";

const none = "no answer of this kind was kept with what its body says";

/** What was wrong with each answer by itself, when it came. */
const judgeBodies =
  ({ clause, appliesTo }: BodyRule) =>
  (facts: LoadFacts): JudgeResult => {
    if (hasCountsOnly(facts))
      return judgeSecondCounts(facts, (slot, endpoint) => slotSays(slot, clause, endpoint, appliesTo), none);
    return judgeResponses(
      facts.sent,
      ({ flaws, status, plannedFlow }) => {
        if (flaws === null || status === null || !appliesTo(plannedFlow.operation.kind, status)) return undefined;
        return flaws.find((flaw) => flaw.clause === clause) ?? null;
      },
      facts,
      none,
    );
  };

function slotSays(
  { bodies }: SecondCounts,
  clause: BodyRule["clause"],
  endpoint: FlowEndpoint | undefined,
  speaksOf: BodyRule["appliesTo"],
): SecondCountsResult {
  const those = endpoint === undefined ? [] : bodies.filter(({ status }) => speaksOf(endpoint, status));
  const flaws = those.flatMap((body) => body.flaws.filter((flaw) => flaw.clause === clause));
  return {
    looked: sumOf(those.map(({ looked }) => looked)),
    broken: sumOf(flaws.map(({ count }) => count)),
    wrong: flaws[0] ?? null,
  };
}

/** Judges of the clauses that speak of one answer by itself. */
export const bodyJudges: readonly (readonly [clause: string, judge: (facts: LoadFacts) => JudgeResult])[] =
  bodyRules.map((rule) => [rule.clause, judgeBodies(rule)]);
