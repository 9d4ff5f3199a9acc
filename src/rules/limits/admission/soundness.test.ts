import { assert, constantFrom, boolean, integer, nat, property, record } from "fast-check";
import { expect, it } from "vitest";

import { runsOf } from "../../../base/testing/test-scope.ts";
import { publishedTiers, type TierLimits } from "../../../spec/tiers.ts";
import { judgeAdmission } from "./judge.ts";
import { simulate } from "./testing/histories.ts";
import { randomOf } from "./testing/random.ts";
import { anchored } from "./testing/limiters.ts";
import { legalServer, serverOf } from "./testing/server.ts";
import { timelineOf } from "./timeline.ts";
import { minCapacity } from "./rolling.ts";

const tiny: TierLimits = { perHour: 12, perMinute: 5, concurrent: 3, burst: 4, tokensPerMonth: null };
const tiers: readonly TierLimits[] = [
  publishedTiers.free,
  publishedTiers.pro,
  tiny,
  { ...tiny, burst: null },
  { ...tiny, perHour: 30, burst: 12 },
];

/** To search for false alarms longer: `CONFORMANCE_RUNS=100000 CONFORMANCE_SEED=7 npm run test:unit`. */
const runs = runsOf({ quick: 1000, full: 20000 });

const cases = record({
  seed: nat(),
  tier: integer({ min: 0, max: tiers.length - 1 }),
  requests: integer({ min: 1, max: 120 }),
  toleranceMs: constantFrom(0, 5, 50),
  virtualClock: boolean(),
  unseen: constantFrom(0, 0, 5, 30),
  lossRate: constantFrom(0, 0.1),
  failedShare: constantFrom(0, 0.2),
});

it("never flags a server that keeps the limits, in whichever way", { timeout: 300_000 + runs * 20 }, () => {
  const never = property(cases, ({ seed, tier, toleranceMs, ...traffic }) => {
    const limits = tiers[tier] ?? tiny;
    const random = randomOf(seed);
    const server = legalServer(limits, random);
    const clockMs = traffic.virtualClock ? 0 : toleranceMs;
    const history = simulate(server, { ...traffic, toleranceMs: clockMs }, random);
    const judgement = judgeAdmission(history, limits, { toleranceMs: clockMs, slotReleaseMs: 10 });
    const described =
      judgement.kind === "explained" ? "explained" : JSON.stringify({ server: server.describe, judgement });
    expect(described).toBe("explained");
  });
  assert(never, { numRuns: runs });
});

const windowsOpenedByRequests = record({
  seed: nat(),
  capacity: integer({ min: 1, max: 8 }),
  isPushed: boolean(),
  countsRefusals: boolean(),
  countsBeforeAsking: boolean(),
  requests: integer({ min: 1, max: 120 }),
  toleranceMs: constantFrom(0, 50, 1000),
  virtualClock: boolean(),
  unseen: constantFrom(0, 5, 30),
});

it(
  "never asks more of windows that requests open, and refusals prolong, than they admitted",
  { timeout: 300_000 + runs * 20 },
  () => {
    const never = property(windowsOpenedByRequests, ({ seed, capacity, isPushed, toleranceMs, ...traffic }) => {
      const random = randomOf(seed);
      const server = serverOf({
        describe: "",
        limiters: [anchored({ capacity, reported: capacity, windowMs: 60_000 }, isPushed)],
        concurrent: Infinity,
        slotsFirst: false,
        slotRefusalsCount: false,
        ...traffic,
      });
      const clockMs = traffic.virtualClock ? 0 : toleranceMs;
      const lossRate = { lossRate: 0.02, failedShare: 0.1 };
      const history = simulate(server, { ...traffic, ...lossRate, toleranceMs: clockMs }, random);
      const refused = history.decisions.filter(({ outcome }) => outcome === "refused");
      const timeline = timelineOf(
        history,
        { toleranceMs: clockMs },
        [],
        new Set(traffic.countsRefusals ? refused : []),
      );
      expect(minCapacity(timeline, 60_000)).toBeLessThanOrEqual(capacity);
    });
    assert(never, { numRuns: runs });
  },
);
