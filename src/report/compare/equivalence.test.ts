import { describe, expect, it } from "vitest";

import type { LimiterShape } from "../../rules/limits/admission/models.ts";
import { isEquivalentText, windowKinds } from "./find-changes.ts";

const fits = (shapes: string): string => `what was seen fits these windows: ${shapes}`;

describe("two texts of an observation can have the same cause", () => {
  it.each<[string, string, boolean]>([
    ["a stream of 10 s ended with done", "a stream of 9.5 s ended with done", true],
    ["`retry_after` 2271599 s", "`retry_after` 12 s", true],
    ["`period` is 2026-03-01T00:00:00Z", "`period` is 2027-04-01", true],
    ["sent to http://127.0.0.1:4000/x", "sent to http://127.0.0.1:4001/x", true],
    ["`average_response_time` is 0.0031 without a unit", "`average_response_time` is 1.2e-3 without a unit", true],
    ["`average_response_time` is 0.0031 without a unit", "`average_response_time` is 3.1 without a unit", false],
    ["`average_response_time` is 0 without a unit", "`average_response_time` is 0.4 without a unit", true],
    ["`average_response_time` is 0.0031 without a unit", '`average_response_time` is "3 ms" without a unit', false],
    ["answers 404", "answers 405", false],
    ["16 chunks", "29 chunks", false],
    ["a stream of 10 s ended with done", "a stream of 10 s ended with error", false],
    [fits("fixed, weighted"), fits("weighted, fixed"), true],
    [fits("fixed, weighted"), fits("rolling, fixed, anchored"), true],
    [fits("fixed, weighted"), fits("rolling, bucket"), false],
    ["hour fixed or weighted; minute fixed", "hour fixed; minute fixed or bucket", true],
    ["hour fixed or weighted; minute fixed", "hour fixed; minute rolling", false],
    ["hour fixed", "minute fixed", false],
  ])("%s / %s: %s", (was, is, same) => {
    expect(isEquivalentText(was, is)).toBe(same);
    expect(isEquivalentText(is, was)).toBe(same);
  });

  it("uses the same names of window shapes as the judge of limiters", () => {
    const all: Readonly<Record<LimiterShape, true>> = {
      rolling: true,
      fixed: true,
      anchored: true,
      pushed: true,
      weighted: true,
      bucket: true,
    };
    expect(Object.keys(all)).toEqual([...windowKinds]);
  });
});
