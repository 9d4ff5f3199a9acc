import { describe, expect, it } from "vitest";

import { significantByHolm } from "./holm.ts";
import { robustDeviation, hodgesLehmannShift } from "./robust.ts";

describe("robust figures", () => {
  it("do not follow an outlier", () => {
    const values = [10, 11, 9, 10.5, 9.5, 10, 10.2];
    expect(hodgesLehmannShift([12, 12.1, 900], values)).toBeCloseTo(2.5, 5);
    expect(robustDeviation([...values, 900])).toBeLessThan(1);
  });
});

describe("many tests at once", () => {
  it("are believed step by step, each against those that are left", () => {
    expect(significantByHolm([0.04, 0.01, 0.02], 0.05)).toEqual([true, true, true]);
    expect(significantByHolm([0.04, 0.03, 0.01], 0.05)).toEqual([false, false, true]);
  });

  it("count those that were not even tried", () => {
    expect([significantByHolm([0.001], 0.05, 10), significantByHolm([0.006], 0.05, 10)]).toEqual([[true], [false]]);
  });
});
