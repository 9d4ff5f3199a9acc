import { describe, expect, it } from "vitest";

import type { Sample } from "../../rules/limits/sample.ts";
import { sample } from "../testing/evidence.ts";
import { firstAndLastSamples, countReturnable } from "./probes.ts";

const sentAt = (samples: readonly Sample[]): number[] => samples.map(({ sentMs }) => sentMs);

describe("the answers of a key that was used by the ten thousand", () => {
  const serial = Array.from({ length: 20 }, (_, at) => sample({ sentMs: at }));

  it("are the first and the last of them, in the order of sending", () => {
    expect(sentAt(firstAndLastSamples(serial.toReversed(), 5, 3))).toEqual([0, 1, 2, 3, 4, 17, 18, 19]);
    expect(firstAndLastSamples(serial, 15, 5)).toBe(serial);
  });

  it("leave out whatever was in flight together with what is left out, for its neighbours would seem to be alone", () => {
    const burst = [3, 4, 5, 6].map((sentMs) => sample({ sentMs, headMs: 9, endMs: 9 }));
    const all = [...serial.filter(({ sentMs }) => sentMs < 3 || sentMs > 6), ...burst];
    expect(sentAt(firstAndLastSamples(all, 5, 12))).toEqual([0, 1, 2, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
  });
});

describe("what a rolling window may give back between two answers", () => {
  const burst = [0, 1, 2, 3].map((sentMs) => sample({ sentMs, headMs: 5, endMs: 5 }));
  const between = (fromMs: number, clockMs: number): number =>
    countReturnable(
      burst,
      sample({ sentMs: fromMs, sentClockMs: clockMs, headClockMs: clockMs }),
      sample({ sentMs: fromMs + 30, headMs: fromMs + 40, sentClockMs: clockMs, headClockMs: clockMs }),
      clockMs > 0,
    );

  it.each([
    ["what was sent a moment before: nothing", 1000, 0, 0],
    ["what was sent a minute before", 60_000, 0, 4],
    ["a piece of a window that counts by pieces", 52_000, 0, 4],
    ["what was sent two minutes before: nothing", 120_000, 0, 0],
    ["what was sent an hour before", 3_600_000, 0, 4],
    ["what was sent a minute before, by a clock that was moved", 500, 60_000, 4],
    ["the same by a clock that stands still between its moves", 40_000, 60_000, 4],
  ])("is %s", (_, realMs, clockMs, expected) => {
    expect(between(realMs, clockMs)).toBe(expected);
  });

  it("is no health report, and nothing that was never answered", () => {
    const other = [sample({ kind: "health" }), sample({ status: null })];
    expect(countReturnable(other, sample({ sentMs: 60_000 }), sample({ sentMs: 60_010, headMs: 60_020 }), false)).toBe(
      0,
    );
  });
});
