import { describe, expect, it } from "vitest";
import { publishedTiers } from "../../spec/tiers.ts";
import type { RequestSample, Sample } from "./sample.ts";
import { noRateLimitInfo } from "./rate-limit-info.ts";
import {
  groupByWindow,
  judgeTimeLeft,
  resetMismatch,
  resetMismatchWithClock,
  type ResponseTimeBounds,
} from "./reset-headers.ts";

const reset = 1_800_000_060;
const answerAt = (atSeconds: number, values: Partial<RequestSample> = {}): RequestSample => {
  const times = { sentMs: atSeconds * 1000, headMs: atSeconds * 1000, endMs: atSeconds * 1000 };
  return {
    id: `x${atSeconds}`,
    kind: "invoke",
    status: 200,
    ...times,
    ...noRateLimitInfo,
    limit: 10,
    reset,
    ...values,
  };
};
const judged = (...answers: readonly RequestSample[]): string[] =>
  judgeTimeLeft(answers, publishedTiers.free, (from, to) => (to.sentMs - from.headMs) / 1000).map(({ mismatch }) =>
    mismatch === null ? "falls" : mismatch.actual,
  );

it("puts answers of one limit and one reset together, and leaves out those that let nobody in", () => {
  const [first, other, second, otherKey] = [
    answerAt(0),
    answerAt(1, { limit: 100 }),
    answerAt(2),
    answerAt(3, { status: 401 }),
  ];
  expect(groupByWindow([first, other, second, otherKey])).toEqual([[first, second], [other]]);
});

describe("the time left", () => {
  it.each<[name: string, answers: readonly RequestSample[], expected: readonly string[]]>([
    ["falls", [answerAt(0, { resetAfter: 60 }), answerAt(10, { resetAfter: 50 })], ["falls"]],
    ["is rounded", [answerAt(0, { resetAfter: 60 }), answerAt(10, { resetAfter: 52 })], ["falls"]],
    ["stands still", [answerAt(0, { resetAfter: 60 }), answerAt(10, { resetAfter: 60 })], ["60, 10 s later"]],
    ["is not known for long enough", [answerAt(0, { resetAfter: 60 }), answerAt(2, { resetAfter: 60 })], []],
    ["is over", [answerAt(0, { resetAfter: 5 }), answerAt(10, { resetAfter: 5 })], []],
    ["is longer than the window", [answerAt(0, { resetAfter: 99 }), answerAt(10, { resetAfter: 99 })], []],
    ["is told once", [answerAt(0, { resetAfter: 60 }), answerAt(10)], []],
    ["is of a delta", [answerAt(0, { resetAfter: 60, reset: 60 }), answerAt(10, { resetAfter: 60, reset: 60 })], []],
  ])("%s", (_, answers, expected) => {
    expect(judged(...answers)).toEqual(expected);
  });
});

const now = 1_800_000_000;
/** A response that was made half a second after a whole second, on both clocks. */
const onTime: ResponseTimeBounds = { tookSeconds: 0.5, ours: { fromSeconds: now + 0.2, toSeconds: now + 0.7 } };
const skewed = (seconds: number): ResponseTimeBounds => ({
  tookSeconds: 0.5,
  ours: { fromSeconds: now + 0.2 + seconds, toSeconds: now + 0.7 + seconds },
});
const right = { reset: now + 30, resetAfter: 30, date: now };

const kindOf = (expected: string | null | undefined): string => {
  if (expected === undefined) return "nothing to judge";
  return expected === null ? "agrees" : "breach";
};

describe("a reset reported in two ways agrees by `Date` or by our own clock", () => {
  it.each<[name: string, values: Parameters<typeof resetMismatch>[0], time: ResponseTimeBounds, kind: string]>([
    ["both clocks right", right, onTime, "agrees"],
    ["`Date` lags by 5 s", { ...right, date: now - 5 }, onTime, "agrees"],
    ["`Date` lags by 30 s", { ...right, date: now - 30 }, onTime, "agrees"],
    ["`Date` of a proxy that is an hour ahead", { ...right, date: now + 3600 }, onTime, "agrees"],
    ["our clock an hour ahead", right, skewed(3600), "agrees"],
    ["our clock an hour behind", right, skewed(-3600), "agrees"],
    ["no clock of ours", right, { tookSeconds: 0.5, ours: null }, "agrees"],
    ["`Date` lags and our clock is off", { ...right, date: now - 5 }, skewed(3600), "breach"],
    ["`Date` lags and there is no clock of ours", { ...right, date: now - 5 }, { ...onTime, ours: null }, "breach"],
    ["ten seconds late", { ...right, reset: now + 40 }, onTime, "breach"],
    ["ten seconds early", { ...right, reset: now + 20 }, onTime, "breach"],
    ["three seconds early", { ...right, reset: now + 27 }, onTime, "breach"],
    ["two seconds early", { ...right, reset: now + 28 }, onTime, "agrees"],
    ["three seconds late, of which one was cut off `Date`", { ...right, reset: now + 33 }, onTime, "agrees"],
    ["four seconds late", { ...right, reset: now + 34 }, onTime, "breach"],
    ["milliseconds for seconds", { ...right, reset: (now + 30) * 1000 }, onTime, "breach"],
    ["a delta for an instant", { ...right, reset: 30 }, onTime, "breach"],
    ["milliseconds without `Date`", { ...right, reset: (now + 30) * 1000, date: null }, onTime, "breach"],
    ["a delta without `Date`", { ...right, reset: 30, date: null }, onTime, "breach"],
    ["two machines apart, without `Date`", { ...right, date: null }, skewed(290), "agrees"],
    ["told on arrival, answered 20 s later", { ...right, date: now + 20 }, { ...onTime, tookSeconds: 20 }, "agrees"],
    ["no `Reset`", { ...right, reset: null }, onTime, "nothing to judge"],
    ["no `Reset-After`", { ...right, resetAfter: null }, onTime, "nothing to judge"],
    ["no clock at all", { ...right, date: null }, { tookSeconds: 0.5, ours: null }, "nothing to judge"],
  ])("%s", (_, values, time, kind) => {
    expect(kindOf(resetMismatch(values, time))).toBe(kind);
  });
});

/**
 * A response to a request that was sent some seconds after the start. The target's clock has been moved by an offset.
 */
function answer(atSeconds: number, offsetSeconds: number, values: Partial<Sample>): Sample {
  const [sentMs, sentClockMs] = [atSeconds * 1000, offsetSeconds * 1000];
  const times = { sentMs, headMs: sentMs + 1, endMs: sentMs + 1 };
  const clocks = { sentClockMs, headClockMs: sentClockMs, endClockMs: sentClockMs };
  return { id: `x${atSeconds}`, kind: "invoke", ...times, ...clocks, status: 200, ...noRateLimitInfo, ...values };
}

describe("a run that may move the target's clock", () => {
  const started = { startedUnixMs: now * 1000, maxDriftMs: 0, first: null };
  it.each<[name: string, hasClock: boolean, sample: Sample, kind: string]>([
    ["our clock tells where `Date` lags", false, answer(10, 0, { ...right, reset: now + 40 }), "agrees"],
    ["our clock is moved with it", true, answer(1, 3600, { ...right, reset: now + 3631, date: now + 3590 }), "agrees"],
    ["`Date` is moved with it", true, answer(1, 7200, { ...right, reset: now + 3630, date: now + 3600 }), "agrees"],
    ["`Date` does not follow", true, answer(1, 7200, { ...right, reset: now + 3630 }), "nothing to judge"],
    ["`Date` does not follow a delta", true, answer(1, 7200, { ...right, reset: 30 }), "breach"],
    ["neither agrees", true, answer(1, 7200, { ...right, reset: now + 3640, date: now + 3600 }), "breach"],
    [
      "`Date` lags on another clock",
      true,
      answer(1, 7200, { ...right, reset: now + 3635, date: now + 3600 }),
      "agrees",
    ],
    ["`Date` is ahead of it", true, answer(1, 7200, { ...right, reset: now + 3625, date: now + 3600 }), "breach"],
  ])("%s", (_, hasClock, sample, kind) => {
    expect(kindOf(resetMismatchWithClock({ ...started, hasClock }, sample))).toBe(kind);
  });

  it.each([
    [0, "breach"],
    [10_000, "agrees"],
  ])("may be behind ours by the %d ms that its advances took, while `Date` lags", (maxDriftMs, kind) => {
    const sample = answer(20, 3600, { ...right, reset: now + 3642, date: now + 3590 });
    expect(kindOf(resetMismatchWithClock({ ...started, maxDriftMs, hasClock: true }, sample))).toBe(kind);
  });
});
