import { describe, expect, it } from "vitest";
import { noRateLimitInfo } from "../../../rules/limits/rate-limit-info.ts";
import { countInWindow, downsample, type LimiterSample, fixedWindowIndexer } from "./limiter-samples.ts";

const began = 1_772_600_760;

/**
 * Creates a response that arrives `second` seconds after the start of a minute. The server's windows end at `phase` seconds of each
 * minute.
 */
const seen = (second: number, decision: LimiterSample["decision"] = "admitted", phase = 0): LimiterSample => ({
  atMs: second * 1000,
  decision,
  ...noRateLimitInfo,
  limit: 10,
  remaining: 5,
  reset: began + (Math.floor((second - phase) / 60) + 1) * 60 + phase,
  date: began + Math.floor(second),
  latencyMs: 1,
});

const burst = (second: number, count: number, phase = 0): LimiterSample[] =>
  Array.from({ length: count }, () => seen(second, "admitted", phase));

describe("the number of admitted requests in a window", () => {
  it("is counted in a rolling window if that never exceeds the published limit", () => {
    const counted = countInWindow([...burst(0, 10), seen(1, "refused"), ...burst(61, 10)], 60, 10);
    expect([counted.shape, counted.max]).toEqual(["rolling", 10]);
    expect(counted.refusals).toEqual([{ x: 1000, y: 10 }]);
  });

  it("is counted in fixed windows if bursts meet at the end of one", () => {
    const counted = countInWindow([...burst(58, 10), ...burst(61, 10), seen(62, "refused")], 60, 10);
    expect([counted.shape, counted.max]).toEqual(["fixed", 10]);
    expect(counted.refusals).toEqual([{ x: 62_000, y: 10 }]);
  });

  it("uses the window ends of the reset header", () => {
    const counted = countInWindow([...burst(20, 10, 23), ...burst(24, 10, 23)], 60, 10);
    expect([counted.shape, counted.max]).toEqual(["fixed", 10]);
  });

  it("exceeds the published limit if no window explains it", () => {
    expect(countInWindow(burst(5, 13), 60, 10).max).toBe(13);
  });

  it("uses the date if resets are not Unix seconds", () => {
    const inMilliseconds = [1, 30, 61].map((second) => ({ ...seen(second), reset: (began + 60) * 1000 }));
    const windowOf = fixedWindowIndexer(inMilliseconds, 60, 10);
    const [first, second, third] = inMilliseconds.map(windowOf);
    expect(second).toBe(first);
    expect(third).toBe((first ?? 0) + 1);
  });
});

describe("a line with fewer points", () => {
  it("keeps its ends, its highest and its lowest", () => {
    const points = Array.from({ length: 10_000 }, (_, x) => ({ x, y: x === 5000 ? 99 : x === 7000 ? -5 : x % 10 }));
    const kept = downsample(points, 100);
    expect(kept.length).toBeLessThan(500);
    expect(kept.map(({ y }) => y)).toEqual(expect.arrayContaining([99, -5]));
    expect([kept[0]?.x, kept.at(-1)?.x]).toEqual([0, 9999]);
  });
});
