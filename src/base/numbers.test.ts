import { describe, expect, it } from "vitest";

import { formatNumber, rounded } from "./numbers.ts";

describe("numbers", () => {
  it.each([
    [1.23456, 3, 1.235],
    [1.5, 0, 2],
    [2, 3, 2],
    [-0.05, 1, -0],
    [3.9799999999999995, 3, 3.98],
  ])("%d to %d digits is %d", (value, digits, is) => {
    expect(rounded(value, digits)).toBe(is);
  });

  it.each([
    [0, "0"],
    [999, "999"],
    [4213, "4,213"],
    [-123_456, "-123,456"],
    [9_007_199_254_740_991, "9,007,199,254,740,991"],
    [1_234_567.8, "1,234,567.8"],
  ])("%d is written %s", (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });
});
