import { assert, boolean, constantFrom, integer, nat, property, record } from "fast-check";
import { expect, it } from "vitest";

import { runsOf } from "../../../base/testing/test-scope.ts";
import { publishedTiers, type TierLimits } from "../../../spec/tiers.ts";
import type { Decision, History } from "./history.ts";
import { judgeAdmission, type HistoryJudgement } from "./judge.ts";
import { simulate } from "./testing/histories.ts";
import { randomOf } from "./testing/random.ts";
import { legalServer } from "./testing/server.ts";

const runs = runsOf({ quick: 150, full: 3000 });

const tiny: TierLimits = { perHour: 12, perMinute: 5, concurrent: 3, burst: 4, tokensPerMonth: null };
const tiers: readonly TierLimits[] = [tiny, { ...tiny, burst: null }, publishedTiers.free, publishedTiers.pro];

const worlds = record({
  seed: nat(),
  /** The limits of the server. The judge uses these limits times the factor `judgedBy`. */
  tier: constantFrom(...tiers),
  judgedBy: constantFrom(0.5, 1, 2, 3),
  mostAlike: constantFrom(2, 4),
  everyReading: boolean(),
  toleranceMs: constantFrom(0, 50, 1000),
  requests: integer({ min: 1, max: 40 }),
  virtualClock: boolean(),
  unseen: constantFrom(0, 0, 5),
  lossRate: constantFrom(0, 0.1),
  failedShare: constantFrom(0, 0.2),
});

const times = ({ perHour, perMinute, concurrent, burst, ...rest }: TierLimits, factor: number): TierLimits => {
  const of = (number: number): number => Math.max(1, Math.round(number * factor));
  return {
    ...rest,
    perHour: of(perHour),
    perMinute: of(perMinute),
    concurrent: of(concurrent),
    burst: burst === null ? null : of(burst),
  };
};

/** Removes repeated parts of the text: of several equal refusals, the text of a grouped history mentions only one. */
const withDistinctParts = (judgement: HistoryJudgement): HistoryJudgement =>
  judgement.kind === "explained"
    ? judgement
    : { ...judgement, actual: [...new Set(judgement.actual.split("; "))].join("; ") };

it(
  "gives the same result for requests that are alike, listed one by one or as a number",
  { timeout: 30_000 + runs * 100 },
  () => {
    const observed = new Set<string>();
    const always = property(worlds, ({ seed, tier, judgedBy, mostAlike, everyReading, ...traffic }) => {
      const random = randomOf(seed);
      const { decisions, ...rest } = simulate(legalServer(tier, random), traffic, random);
      const byNumber = decisions.map((one): Decision => ({ ...one, count: random.whole(1, mostAlike) }));
      const oneByOne = byNumber.flatMap((one) =>
        Array.from({ length: one.count }, (): Decision => ({ ...one, count: 1 })),
      );
      const options = { toleranceMs: traffic.toleranceMs, slotReleaseMs: 10 };
      const judged = (history: History) =>
        withDistinctParts(judgeAdmission(history, times(tier, judgedBy), options, everyReading));
      const counted = judged({ ...rest, decisions: byNumber });
      expect(counted).toEqual(judged({ ...rest, decisions: oneByOne }));
      observed.add(counted.kind === "breach" ? counted.breach : counted.kind);
    });
    assert(always, { numRuns: runs });
    expect([...observed]).toEqual(expect.arrayContaining(["explained", "too many admitted", "refused below limit"]));
  },
);
