import { type BodyRule, bodyRules } from "../../bodies/rules.ts";
import type { SlotSummary } from "../load-evidence.ts";
import type { LoadFacts } from "./facts.ts";
import { judgeEach, judgeSlots, type SlotSays } from "./every.ts";
import type { Says } from "./finding.ts";

const none = "no answer of this kind was kept with what its body says";

/** What was wrong with each answer by itself, when it came. */
const judgeBodies =
  ({ clause, speaksOf }: BodyRule) =>
  (facts: LoadFacts): Says => {
    if (facts.sent.length === 0 && facts.evidence.summary.length > 0) {
      const endpoints = new Map(facts.evidence.flows.map(({ name, operation }) => [name, operation.kind]));
      return judgeSlots(facts, (slot) => slotSays(slot, clause, endpoints.get(slot.flow), speaksOf), none);
    }
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
  endpoint: Parameters<BodyRule["speaksOf"]>[0] | undefined,
  speaksOf: BodyRule["speaksOf"],
): SlotSays {
  const those = endpoint === undefined ? [] : bodies.filter(({ status }) => speaksOf(endpoint, status));
  const flaws = those.flatMap((body) => body.flaws.filter((flaw) => flaw.clause === clause));
  const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);
  return {
    looked: sum(those.map(({ looked }) => looked)),
    broken: sum(flaws.map(({ count }) => count)),
    wrong: flaws[0] ?? null,
  };
}

/** Judges of the clauses that speak of one answer by itself. */
export const bodyJudges: readonly (readonly [clause: string, judge: (facts: LoadFacts) => Says])[] = bodyRules.map(
  (rule) => [rule.clause, judgeBodies(rule)],
);
