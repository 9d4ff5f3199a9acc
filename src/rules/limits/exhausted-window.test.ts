import { minuteMs } from "../../base/duration.ts";
import { assert, boolean, constantFrom, integer, nat, property, record } from "fast-check";
import { describe, expect, it } from "vitest";

import { runsOf } from "../../base/testing/test-scope.ts";
import { publishedTiers, type TierLimits } from "../../spec/tiers.ts";
import { type Random, randomOf } from "./admission/testing/random.ts";
import type { RequestSample } from "./sample.ts";
import { noRateLimitInfo } from "./rate-limit-info.ts";
import { judgeExhausted, type Elapsed } from "./exhausted-window.ts";

const { free, pro } = publishedTiers;
/** Unix time of the first request, in ms. It is not a whole second. */
const startMs = 1_800_000_000_321;

const passed = (from: RequestSample, to: RequestSample): Elapsed => ({
  min: (to.sentMs - from.headMs) / 1000,
  max: (to.headMs - from.sentMs) / 1000,
});
const verdictOn = (answers: readonly RequestSample[], limits: TierLimits, isFresh: boolean): string =>
  judgeExhausted({ samples: answers, limits, isFresh, elapsed: passed }).kind;

/** The values that a simulated limiter reports: the requests that are left, and the reset of the window. */
interface Reading {
  readonly left: number;
  readonly resetMs: number;
}
type Keeps = (counted: readonly number[], nowMs: number, limit: number) => Reading;

const within = (counted: readonly number[], fromMs: number): number => counted.filter((ms) => ms >= fromMs).length;

const rolling =
  (reported: "oldest" | "newest"): Keeps =>
  (counted, nowMs, limit) => {
    const kept = counted.filter((ms) => ms > nowMs - minuteMs);
    const since = (reported === "oldest" ? kept[0] : kept.at(-1)) ?? nowMs;
    return { left: limit - kept.length, resetMs: since + minuteMs };
  };

const fixed: Keeps = (counted, nowMs, limit) => {
  const beganMs = Math.floor(nowMs / minuteMs) * minuteMs;
  return { left: limit - within(counted, beganMs), resetMs: beganMs + minuteMs };
};

const anchored: Keeps = (counted, nowMs, limit) => {
  let beganMs = -Infinity;
  for (const ms of counted) if (ms >= beganMs + minuteMs) beganMs = ms;
  const isOpen = nowMs < beganMs + minuteMs;
  return { left: isOpen ? limit - within(counted, beganMs) : limit, resetMs: (isOpen ? beganMs : nowMs) + minuteMs };
};

const weighted: Keeps = (counted, nowMs, limit) => {
  const beganMs = Math.floor(nowMs / minuteMs) * minuteMs;
  const own = within(counted, beganMs);
  const before = within(counted, beganMs - minuteMs) - own;
  return { left: limit - own - before * (1 - (nowMs - beganMs) / minuteMs), resetMs: beganMs + minuteMs };
};

const bucket =
  (reported: "full" | "next"): Keeps =>
  (counted, nowMs, limit) => {
    const perTokenMs = minuteMs / limit;
    let fullMs = -Infinity;
    for (const ms of counted) fullMs = Math.max(fullMs, ms) + perTokenMs;
    const left = limit - Math.max(0, fullMs - nowMs) / perTokenMs;
    const nextMs = nowMs + (1 - (left % 1)) * perTokenMs;
    return { left, resetMs: reported === "full" ? Math.max(nowMs, fullMs) : nextMs };
  };

const kinds = {
  "rolling, told by the oldest": rolling("oldest"),
  "rolling, told by the newest": rolling("newest"),
  fixed,
  anchored,
  weighted,
  "a bucket, told when it is full": bucket("full"),
  "a bucket, told when it gains": bucket("next"),
} as const satisfies Readonly<Record<string, Keeps>>;

interface World {
  readonly keeps: Keeps;
  readonly limits: TierLimits;
  readonly requests: number;
  readonly round: (seconds: number) => number;
  /** The share of requests that fail. The server stops counting a failed request when its response ends. */
  readonly errorShare: number;
}

/**
 * Simulates requests on one key, on a server whose headers are correct. Some requests are sent at once, some at
 * intervals, with pauses of any length.
 */
function simulate({ keeps, limits, requests, round, errorShare }: World, random: Random): RequestSample[] {
  const limit = limits.perMinute;
  let nowMs = random.between(0, minuteMs);
  const sent = Array.from({ length: requests }, () => {
    nowMs +=
      random.pick([0, 0, 5, 100, 1000, 6000]) * random.next() + (random.chance(0.05) ? random.between(0, 90_000) : 0);
    const reachesMs = nowMs + random.between(0, 20);
    return { sentMs: nowMs, reachesMs, headMs: reachesMs + random.between(0, 300), fails: random.chance(errorShare) };
  }).toSorted((one, other) => one.reachesMs - other.reachesMs);
  let counted: number[] = [];
  let failing: { atMs: number; untilMs: number }[] = [];
  return sent.map(({ sentMs, reachesMs, headMs, fails }, index): RequestSample => {
    const over = failing.filter(({ untilMs }) => untilMs <= reachesMs).map(({ atMs }) => atMs);
    counted = counted.filter((ms) => !over.includes(ms));
    failing = failing.filter(({ untilMs }) => untilMs > reachesMs);
    const atMs = startMs + reachesMs;
    const isAdmitted = keeps(counted, atMs, limit).left >= 1 - 1e-9;
    if (isAdmitted) counted.push(atMs);
    if (isAdmitted && fails) failing.push({ atMs, untilMs: headMs });
    const { left, resetMs } = keeps(counted, atMs, limit);
    const reported = {
      limit,
      remaining: Math.max(0, Math.floor(left + 1e-9)),
      reset: round(resetMs / 1000),
      resetAfter: Math.max(0, round((resetMs - atMs) / 1000)),
    };
    const status = isAdmitted ? (fails ? 500 : 200) : 429;
    return { ...noRateLimitInfo, ...reported, id: `r${index}`, kind: "invoke", sentMs, headMs, endMs: headMs, status };
  });
}

const runs = runsOf({ quick: 1000, full: 20_000 });

describe("a window that is reported as exhausted", () => {
  const cases = record({
    seed: nat(),
    kind: constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[])),
    isPro: boolean(),
    requests: integer({ min: 2, max: 160 }),
    round: constantFrom(Math.ceil, Math.floor, Math.round),
    errorShare: constantFrom(0, 0, 0.1),
    unseen: constantFrom(0, 0, 15, 60),
  });

  it("is never flagged on a server that keeps to what it tells", { timeout: 300_000 + runs * 20 }, () => {
    const never = property(cases, ({ seed, kind, isPro, unseen, ...world }) => {
      const limits = isPro ? pro : free;
      const answers = simulate({ ...world, limits, keeps: kinds[kind] }, randomOf(seed));
      const observed = answers.toSorted((one, other) => one.sentMs - other.sentMs).slice(unseen);
      expect(`${kind}: ${verdictOn(observed, limits, unseen === 0)}`).not.toBe(`${kind}: broken`);
    });
    assert(never, { numRuns: runs });
  });

  /** Makes ten requests that exhaust the window within a second, and then more requests at an interval. */
  const reported = (statuses: readonly number[], everyMs = 50, more: Partial<RequestSample> = {}): RequestSample[] =>
    statuses.map((status, index) => ({
      ...noRateLimitInfo,
      id: `r${index}`,
      kind: "invoke",
      sentMs: 200_000 + index * everyMs,
      headMs: 200_000 + index * everyMs + 10,
      endMs: 200_000 + index * everyMs + 10,
      status,
      limit: 10,
      remaining: Math.max(0, 9 - index),
      reset: 1_800_000_240,
      resetAfter: 40 - Math.floor((index * everyMs) / 1000),
      ...more,
    }));
  const ten = Array.from({ length: 10 }, () => 200);
  const early = reported([200], 0, { sentMs: 0, headMs: 10, endMs: 10, remaining: 5, reset: 1_800_000_040 });

  it.each<[string, RequestSample[], boolean, string]>([
    ["with one more admitted", reported([...ten, 200]), true, "broken"],
    ["with one more refused", reported([...ten, 429]), true, "kept"],
    [
      "with one more admitted, long after the key was first used",
      [...early, ...reported([...ten, 200])],
      false,
      "broken",
    ],
    ["with one more admitted, on a key that may have been used before", reported([...ten, 200]), false, "not tested"],
    [
      "with four more admitted, on a key that may have been used before",
      reported([...ten, 200, 200, 200, 200]),
      false,
      "broken",
    ],
    ["with nothing after it", reported(ten), true, "not tested"],
    ["with one more admitted after the reset", reported([...ten, 200], 4500), true, "not tested"],
    ["with one more admitted after an error", reported([404, ...ten.slice(1), 200]), true, "not tested"],
    [
      "of another window",
      [...reported(ten), ...reported([200], 0, { sentMs: 201_000, headMs: 201_010, limit: 100, remaining: 50 })],
      true,
      "not tested",
    ],
    ["to a stream", reported([...ten, 200], 50, { kind: "stream" }), true, "broken"],
    ["by health", reported([...ten, 200], 50, { kind: "health" }), true, "not tested"],
  ])("%s", (_, answers, isFresh, verdict) => {
    expect(verdictOn(answers, free, isFresh)).toBe(verdict);
  });
});
