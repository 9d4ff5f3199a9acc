import { describe, expect, it } from "vitest";

import { formatDuration, parseDuration } from "./duration.ts";

describe("durations", () => {
  it.each([
    [0, "0.00 s"],
    [1840, "1.84 s"],
    [12_340, "12.3 s"],
    [59_949, "59.9 s"],
    [59_990, "1 min 0 s"],
    [200_000, "3 min 20 s"],
  ])("writes %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([
    ["90s", 90_000],
    ["2m", 120_000],
    ["1h30m", 5_400_000],
    ["500ms", 500],
    ["1.5s", 1500],
    ["0", 0],
    ["0s", 0],
    ["", null],
    ["90", null],
    ["2m ", null],
    ["m", null],
    ["-2m", null],
  ])("reads %j as %j ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });
});
