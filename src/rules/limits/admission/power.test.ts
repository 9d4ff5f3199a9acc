import { minuteMs } from "../../../base/duration.ts";
import { assert, constantFrom, integer, nat, property, record } from "fast-check";
import { expect, it } from "vitest";

import { runsOf } from "../../../base/testing/test-scope.ts";
import { publishedTiers, type TierLimits } from "../../../spec/tiers.ts";
import { type Decision, decisionOf, type History } from "./history.ts";
import { verdictOfHistory } from "./judge.ts";
import type { Limiter } from "./testing/limiters.ts";
import { bucket, windowLimiter, windowShapes } from "./testing/server.ts";
import { type Random, randomOf } from "./testing/random.ts";

const tiny: TierLimits = { perHour: 4000, perMinute: 5, concurrent: 3, burst: 4, tokensPerMonth: null };
const tiers: readonly TierLimits[] = [
  { ...publishedTiers.free, perHour: 4000 },
  { ...publishedTiers.pro, perHour: 4000 },
  tiny,
  { ...tiny, burst: 12 },
];
const runs = runsOf({ quick: 100, full: 5000 });

/** Maximum number of requests that an admissible limiter admits in one window. */
const mostInWindow = ({ perMinute, burst }: TierLimits): number => perMinute + (burst ?? 0);

/** Sends requests at intervals of `gapMs` until three of them are refused. */
function sendBurst(limiter: Limiter, fromMs: number, most: number, gapMs: number, random: Random): Decision[] {
  const decisions: Decision[] = [];
  let refused = 0;
  for (let at = 0; at < most && refused < 3; at += 1) {
    const sentMs = fromMs + at * gapMs;
    const outcome = limiter.isFull(sentMs) ? "refused" : "admitted";
    if (outcome === "admitted") limiter.count(sentMs);
    else refused += 1;
    const answeredMs = sentMs + random.between(0, gapMs);
    decisions.push(decisionOf({ id: `${fromMs}-${at}`, sentMs, answeredMs, endedMs: answeredMs, outcome }));
  }
  return decisions;
}

const verdictOn = (history: History, limits: TierLimits, toleranceMs: number): string =>
  verdictOfHistory(history, limits, { toleranceMs, slotReleaseMs: 10 }, false).kind;

const worlds = {
  seed: nat(),
  tier: integer({ min: 0, max: tiers.length - 1 }),
  toleranceMs: constantFrom(0, 5, 50, 1000),
  before: constantFrom("nothing" as const, "counted" as const, "anything" as const),
};
/** Share by which a broken limiter exceeds the largest admissible one: a single request (0), 30 % or 100 %. */
const excess = constantFrom(0, 0.3, 1);

it(
  "always flags a limiter that admits more than any admissible one, when it is used up twice",
  { timeout: 300_000 + runs * 50 },
  () => {
    const shapes = constantFrom(...windowShapes, "bucket" as const);
    const always = property(
      record({ ...worlds, shape: shapes, excess }),
      ({ seed, tier, toleranceMs, before: priorUse, shape, ...by }) => {
        const limits = tiers[tier] ?? tiny;
        const random = randomOf(seed);
        const refillPerMs = limits.perMinute / minuteMs;
        const gapMs = random.pick([1, 4]);
        // A bucket refills during the burst. Requests that use these tokens are no excess.
        const gained = Math.floor(refillPerMs * (3 * gapMs * mostInWindow(limits) + 2 * toleranceMs));
        const allowed = mostInWindow(limits) + gained;
        const capacity = Math.max(allowed + 1, Math.round(allowed * (1 + by.excess)));
        const limiter =
          shape === "bucket" ? bucket(capacity, refillPerMs, false) : windowLimiter(shape, capacity, minuteMs, random);
        const first = sendBurst(limiter, 0, 3 * capacity, gapMs, random);
        const runOutMs = shape === "bucket" ? capacity / refillPerMs : 2 * minuteMs;
        const apartMs = Math.ceil(runOutMs / minuteMs) * minuteMs + random.between(10_000, 50_000);
        const second = sendBurst(limiter, apartMs, 3 * capacity, gapMs, random);
        const history: History = { priorUse, decisions: [...first, ...second] };
        expect(`${shape} ${capacity}: ${verdictOn(history, limits, toleranceMs)}`).toBe(`${shape} ${capacity}: breach`);
      },
    );
    assert(always, { numRuns: runs });
  },
);

it("always flags more than two windows' worth within less than one window", { timeout: 300_000 + runs * 50 }, () => {
  const always = property(
    record({ ...worlds, share: constantFrom(0.01, 0.5, 0.95) }),
    ({ seed, tier, toleranceMs, before: priorUse, share }) => {
      const limits = tiers[tier] ?? tiny;
      const random = randomOf(seed);
      const count = 2 * mostInWindow(limits) + 1;
      const unlimited = windowLimiter("rolling", Infinity, minuteMs, random);
      const within = share * (minuteMs - 2 * toleranceMs);
      const decisions = sendBurst(unlimited, random.between(0, minuteMs), count, within / count, random);
      const gained = Math.ceil(share * limits.perMinute);
      const more = sendBurst(unlimited, (decisions.at(-1)?.decided.toMs ?? 0) + 1, gained, 0.1, random);
      expect(verdictOn({ priorUse, decisions: [...decisions, ...more] }, limits, toleranceMs)).toBe("breach");
    },
  );
  assert(always, { numRuns: runs });
});
