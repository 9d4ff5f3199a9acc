import { describe, expect, it } from "vitest";

import { rankSumPValue } from "./samples.ts";

describe("the rank-sum test", () => {
  it.each([
    // There are 120 ways to choose 3 of 10 ranks, and only one is as high as this.
    { name: "all above", one: [8, 9, 10], other: [1, 2, 3, 4, 5, 6, 7], is: 1 / 120 },
    { name: "all below", one: [1, 2, 3], other: [4, 5, 6, 7, 8, 9, 10], is: 1 },
    // The expected value is that of R: wilcox.test(c(6, 7, 4), c(1, 2, 3, 5), alternative = "greater") gives W = 11, p
    // = 2/35.
    { name: "one of them in between", one: [6, 7, 4], other: [1, 2, 3, 5], is: 2 / 35 },
    { name: "no values", one: [], other: [1, 2], is: 1 },
    { name: "ties alone", one: [5, 5], other: [5, 5, 5], is: 1 },
    // There are 10 ways to choose 2 of the ranks 1.5, 1.5, 3.5, 3.5, 5, and two have a sum of 8.5 or more.
    { name: "ties", one: [2, 3], other: [1, 1, 2], is: 2 / 10 },
  ])("$name", ({ one, other, is }) => {
    expect(rankSumPValue(one, other)).toBeCloseTo(is, 12);
  });

  const steps = (count: number, from: number): number[] => Array.from({ length: count }, (_, at) => from + (at % 7));

  it("distinguishes a shift of many values from none", () => {
    expect(rankSumPValue(steps(40, 0), steps(40, 0))).toBeGreaterThan(0.3);
    expect(rankSumPValue(steps(40, 5), steps(40, 0))).toBeLessThan(0.001);
    expect(rankSumPValue(steps(40, 0), steps(40, 5))).toBeGreaterThan(0.999);
    expect(
      rankSumPValue(
        Array.from({ length: 40 }, () => 1),
        Array.from({ length: 40 }, () => 1),
      ),
    ).toBe(1);
  });

  it("says of 64 values, counted, about what it says of 66, approximated", () => {
    const [counted, approximated] = [32, 33].map((count) => rankSumPValue(steps(count, 1), steps(count, 0)));
    expect(counted).toBeGreaterThan(0.01);
    expect(approximated).toBeCloseTo(counted ?? 0, 1);
  });
});
