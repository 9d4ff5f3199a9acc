import { minuteMs } from "../../../base/duration.ts";
import { expect, it } from "vitest";

import { publishedTiers, type TierLimits } from "../../../spec/tiers.ts";
import { decisionOf, type History } from "./history.ts";
import { judgeAdmission } from "./judge.ts";
import { anchored, fixed, rolling, type Limiter, type Size } from "./testing/limiters.ts";
import { drive } from "./testing/histories.ts";

const free = publishedTiers.free;
const options = { toleranceMs: 5, slotReleaseMs: 5 };

const perMinute = (capacity: number): Size => ({ capacity, reported: capacity, windowMs: minuteMs });
const admitsBy = (limiter: Limiter) => (nowMs: number) => {
  if (limiter.isFull(nowMs)) return false;
  limiter.count(nowMs);
  return true;
};
/** 15 requests every 75 s. No fixed windows of a minute fit these requests, whatever their phase. */
const bursts = Array.from({ length: 6 }, (_burst, burst) =>
  Array.from({ length: 15 }, (_, at) => burst * 75_000 + at * 10),
).flat();
const fastForEver = Array.from({ length: 100 }, (_, at) => at * 100);
/** A history of requests with a known duration. In each lane, a request is sent 10 s after the one before. */
function slots(lanes: number, rounds: number, admits: (round: number, lane: number) => boolean): History {
  const decisions = Array.from({ length: lanes * rounds }, (_, index) => {
    const lane = index % lanes;
    const sentMs = Math.floor(index / lanes) * 10_000 + lane;
    const isAdmitted = admits(Math.floor(index / lanes), lane);
    const endedMs = sentMs + (isAdmitted ? 1000 : 5);
    const outcome = isAdmitted ? "admitted" : "refused";
    const minOccupiedMs = isAdmitted ? 900 : 0;
    return decisionOf({ id: `s${index}`, sentMs, answeredMs: endedMs, endedMs, outcome, minOccupiedMs });
  });
  return { priorUse: "nothing", decisions };
}
const sharedBucket = () => {
  const limiter = anchored(perMinute(10), false);
  for (let other = 0; other < 4; other += 1) limiter.count(-1000);
  return admitsBy(limiter);
};
const racing = () => {
  let count = 0;
  let windowsInHistory = -1;
  return (nowMs: number) => {
    const window = Math.floor(nowMs / 75_000);
    if (window !== windowsInHistory) count = 0;
    windowsInHistory = window;
    count += 1;
    return count <= 13;
  };
};

/** Broken servers, each with the number of requests after which the judge must see the breach. */
const broken: [string, History, number][] = [
  ["off by one, anchored", drive(bursts, admitsBy(anchored(perMinute(11), false))), 26],
  ["off by one, rolling", drive(bursts, admitsBy(rolling(perMinute(11), true))), 26],
  ["a read-then-write race", drive(bursts, racing()), 26],
  ["no limit", drive(fastForEver, () => true), 41],
  ["one too few", drive(bursts, admitsBy(rolling(perMinute(9), true))), 10],
  ["a bucket shared with another key", drive(bursts, sharedBucket()), 7],
  [
    "an early reset",
    drive(
      fastForEver.map((ms) => ms * 20),
      admitsBy(fixed({ ...perMinute(10), windowMs: 25_000 }, 0)),
    ),
    26,
  ],
  ["slots leaked", slots(2, 3, (round) => round === 0), 3],
  ["slots freed early", slots(3, 1, () => true), 3],
  ["double the concurrency", slots(4, 1, () => true), 3],
];

it.each(broken)("flags %s", (_, history, from) => {
  expect(flaggedFrom(history, free)).toBe(from);
});

/** Number of requests in the shortest beginning of a history that is a breach. */
function flaggedFrom(history: History, limits: TierLimits): number | null {
  const begins = history.decisions.map((_, index) => ({
    ...history,
    decisions: history.decisions.slice(0, index + 1),
  }));
  const first = begins.findIndex((begin) => judgeAdmission(begin, limits, options).kind === "breach");
  return first < 0 ? null : first + 1;
}
