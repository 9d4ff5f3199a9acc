import { describe, expect, it } from "vitest";
import { seededRandom } from "../numbers.ts";
import { changePoints, clearestChangeIndex, trendOf } from "./series.ts";

const how = { minSegment: 5, maxPValue: 0.001, shuffles: 1999, seed: 1 } as const;

function noise(seed: number, levels: readonly number[]): number[] {
  const numbers = seededRandom(seed);
  const normal = (): number => numbers() + numbers() + numbers() - 1.5;
  return levels.map((level) => level * (1 + 0.08 * normal()));
}

const steps = (...parts: readonly (readonly [count: number, level: number])[]): number[] =>
  parts.flatMap(([count, level]) => Array.from({ length: count }, () => level));

describe("change points", () => {
  it("are the first values of a new level", () => {
    const values = noise(1, steps([40, 100], [25, 130], [30, 100]));
    expect(changePoints(values, how).map(({ at }) => at)).toEqual([40, 65]);
    expect(clearestChangeIndex(values.slice(0, 65), 2, 30)).toBe(40);
  });

  it("are none in noise, single outliers included", () => {
    const found = Array.from({ length: 20 }, (_, seed) => {
      const values = noise(seed, steps([100, 100])).map((value, at) => (at % 19 === 7 ? 3 * value : value));
      return changePoints(values, how).length;
    });
    expect(found).toEqual(found.map(() => 0));
  });

  it("are the same for the same seed", () => {
    const values = noise(5, steps([30, 100], [30, 107]));
    expect(changePoints(values, how)).toEqual(changePoints(values, how));
  });

  it("are none of a few values, nor of values that are all the same", () => {
    expect([changePoints([1, 2, 3], how), changePoints(steps([50, 7]), how)]).toEqual([[], []]);
  });
});

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
