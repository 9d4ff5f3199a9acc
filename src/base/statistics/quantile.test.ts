import { describe, expect, it } from "vitest";
import { hodgesLehmannShift, median, quantile, robustDeviation, significantByHolm } from "./samples.ts";

describe("quantiles", () => {
  it.each([
    { values: [10, 20, 30, 40], share: 0.5, is: 25 },
    { values: [40, 10, 30, 20], share: 0.25, is: 17.5 },
    { values: [10, 20, 30, 40], share: 0, is: 10 },
    { values: [10, 20, 30, 40], share: 1, is: 40 },
    // The expected value is that of R: quantile(1:10, 0.99).
    { values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], share: 0.99, is: 9.91 },
    { values: [2, 10, 1], share: 0.5, is: 2 },
    { values: [7], share: 0.9, is: 7 },
    { values: [1, Infinity, Infinity], share: 0.75, is: Infinity },
  ])("of $values at $share: $is", ({ values, share, is }) => {
    expect(quantile(values, share)).toBeCloseTo(is, 12);
  });

  it("in the middle are medians", () => {
    expect([median([10, 20, 30, 40]), median([3, 1, 2])]).toEqual([25, 2]);
  });

  it("of no values are no number", () => {
    expect([median([]), quantile([], 1)]).toEqual([Number.NaN, Number.NaN]);
  });
});

describe("robust figures", () => {
  it("do not follow an outlier", () => {
    const values = [10, 11, 9, 10.5, 9.5, 10, 10.2];
    expect(hodgesLehmannShift([12, 12.1, 900], values)).toBeCloseTo(2.5, 5);
    expect(robustDeviation([...values, 900])).toBeLessThan(1);
  });
});

describe("several tests at once", () => {
  it("are believed step by step, each against those that are left", () => {
    expect(significantByHolm([0.04, 0.01, 0.02], 0.05)).toEqual([true, true, true]);
    expect(significantByHolm([0.04, 0.03, 0.01], 0.05)).toEqual([false, false, true]);
  });

  it("count those that were not even tried", () => {
    expect([significantByHolm([0.001], 0.05, 10), significantByHolm([0.006], 0.05, 10)]).toEqual([[true], [false]]);
  });
});
