import { describe, expect, it, onTestFinished } from "vitest";

import { type MachineClocks, watchStalls } from "./watch-disturbances.ts";

type Passed = Readonly<Record<keyof MachineClocks, number>>;

/** Returns the stalls that are detected if each clock moves by a given amount between two readings. */
function stallsAfter(passed: Passed) {
  const at = { monotonic: 100, wall: 1_700_000_000_000, busy: 0 };
  const watch = watchStalls(100, { monotonic: () => at.monotonic, wall: () => at.wall, busy: () => at.busy });
  onTestFinished(watch.close);
  for (const clock of ["monotonic", "wall", "busy"] as const) at[clock] += passed[clock];
  return watch.all();
}

describe("the clocks of the machine", () => {
  it.each<[string, Passed, number]>([
    ["a process that was stopped", { monotonic: 6000, wall: 6000, busy: 10 }, 6000],
    ["a machine that slept, whose monotonic clock stood still", { monotonic: 200, wall: 600_000, busy: 10 }, 600_000],
    ["a clock that was set forward", { monotonic: 250, wall: 3_600_250, busy: 10 }, 3_600_250],
    ["a clock that was set back", { monotonic: 250, wall: -3_600_000, busy: 10 }, 3_600_000],
  ])("show %s", (_, passed, lastedMs) => {
    expect(stallsAfter(passed)).toEqual([{ kind: "stalled", fromMs: 0, toMs: passed.monotonic, lastedMs }]);
  });

  it.each<[string, Passed]>([
    ["a quiet moment", { monotonic: 250, wall: 250, busy: 1 }],
    ["a timer that is a little late", { monotonic: 2000, wall: 2000, busy: 5 }],
    ["a process that computes, or waits for a busy processor", { monotonic: 9000, wall: 9000, busy: 8800 }],
    ["a clock that is corrected by half a second", { monotonic: 250, wall: 750, busy: 1 }],
  ])("do not mistake %s", (_, passed) => {
    expect(stallsAfter(passed)).toEqual([]);
  });
});
