import { sumOf } from "../../base/numbers.ts";
import { type BodyRule, bodyRules } from "../../bodies/rules.ts";
import type { SlotSummary } from "../load-evidence.ts";
import { isCounted, type LoadFacts } from "./facts.ts";
import { type FlowEndpoint, judgeEach, judgeSlots, type SlotSays } from "./every.ts";
import type { Says } from "./finding.ts";

const none = "no answer of this kind was kept with what its body says";

/** What was wrong with each answer by itself, when it came. */
const judgeBodies =
  ({ clause, speaksOf }: BodyRule) =>
  (facts: LoadFacts): Says => {
    if (isCounted(facts))
      return judgeSlots(facts, (slot, endpoint) => slotSays(slot, clause, endpoint, speaksOf), none);
    return judgeEach(
      facts.sent,
      ({ flaws, status, of }) => {
        if (flaws === null || status === null || !speaksOf(of.operation.kind, status)) return undefined;
        return flaws.find((flaw) => flaw.clause === clause) ?? null;
      },
      facts,
      none,
    );
  };

function slotSays(
  { bodies }: SlotSummary,
  clause: BodyRule["clause"],
  endpoint: FlowEndpoint | undefined,
  speaksOf: BodyRule["speaksOf"],
): SlotSays {
  const those = endpoint === undefined ? [] : bodies.filter(({ status }) => speaksOf(endpoint, status));
  const flaws = those.flatMap((body) => body.flaws.filter((flaw) => flaw.clause === clause));
  return {
    looked: sumOf(those.map(({ looked }) => looked)),
    broken: sumOf(flaws.map(({ count }) => count)),
    wrong: flaws[0] ?? null,
  };
}

/** Judges of the clauses that speak of one answer by itself. */
export const bodyJudges: readonly (readonly [clause: string, judge: (facts: LoadFacts) => Says])[] = bodyRules.map(
  (rule) => [rule.clause, judgeBodies(rule)],
);
