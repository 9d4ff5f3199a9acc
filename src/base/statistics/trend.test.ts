import { describe, expect, it } from "vitest";

import { trendOf } from "./trend.ts";

describe("a trend", () => {
  it("is found in spite of wild values", () => {
    const values = Array.from({ length: 40 }, (_, index) => 3 * index + (index % 10 === 0 ? 500 : 0));
    const { slope, pValue } = trendOf(values);
    expect(slope).toBeCloseTo(3, 0);
    expect(pValue).toBeLessThan(0.001);
  });

  it("is none where values stay", () => {
    const { slope, pValue } = trendOf(Array.from({ length: 40 }, (_, index) => 100 + (index % 3)));
    expect(slope).toBe(0);
    expect(pValue).toBeGreaterThan(0.1);
  });
});
