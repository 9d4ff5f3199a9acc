import { assert, boolean, constantFrom, integer, nat, property, record } from "fast-check";
import { expect, it } from "vitest";

import { scenarios } from "../scenarios.ts";
import { randomOf } from "../../rules/limits/admission/testing/random.ts";
import { runsOf } from "../../base/testing/test-scope.ts";
import { publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import { judgeLoad } from "./judge.ts";
import { splitOverMachines } from "../testing/samples.ts";
import { simulateRun } from "./testing/simulated-run.ts";
import { legalServer } from "./testing/simulated-server.ts";

const tiny: TierLimits = { perHour: 18, perMinute: 6, concurrent: 3, burst: 6, tokensPerMonth: null };
const tiers: readonly TierLimits[] = [
  tiny,
  { ...tiny, burst: null },
  { ...tiny, perHour: 40, burst: 9 },
  publishedTiers.free,
];

/**
 * Number of simulated runs. `CONFORMANCE_RUNS=100000 CONFORMANCE_SEED=7 npm run test:unit` tries more runs and others.
 */
const runs = runsOf({ quick: 75, full: 4000 });

/** The scenarios that test limits and are small enough to be simulated thousands of times. */
const simulated = scenarios.filter(
  ({ name }) => !["soak", "webhook-storm", "stream-integrity", "far-over"].includes(name),
);

const cases = record({
  seed: nat(),
  scenario: integer({ min: 0, max: simulated.length - 1 }),
  tier: integer({ min: 0, max: tiers.length - 1 }),
  engine: constantFrom("k6" as const, "autocannon" as const),
  fast: boolean(),
  latencyMs: constantFrom(1, 10, 60),
  lossShare: constantFrom(0, 0, 0.1),
  drift: constantFrom(0, 0.0002, -0.0002),
  dates: constantFrom("fresh" as const, "stale" as const, "absent" as const),
  isFresh: constantFrom(true, true, false),
  apartMs: constantFrom(0, 0, 20, 200, 1000),
});

it(
  "never finds a breach in a server that keeps the limits, in whichever way and however it tells",
  { timeout: 300_000 + runs * 100 },
  () => {
    const never = property(cases, ({ seed, scenario: index, tier, fast, apartMs, ...world }) => {
      const limits = tiers[tier] ?? tiny;
      const scenario = simulated[index];
      if (scenario === undefined) return;
      const random = randomOf(seed);
      const server = legalServer(limits, random);
      const speed = fast ? scenario.speed(limits) : 1;
      const alone = simulateRun(
        scenario,
        server,
        { ...world, limits, tier: null, speed, skewMs: random.between(-1e6, 1e6) },
        random,
      );
      const evidence = splitOverMachines(alone, apartMs);
      const breaches = judgeLoad(evidence, scenario).filter(({ kind }) => kind === "breach");
      expect(
        breaches.length === 0
          ? ""
          : JSON.stringify({ scenario: scenario.name, server: server.describe, breaches }, null, 1),
      ).toBe("");
    });
    assert(never, { numRuns: runs });
  },
);
