import { describe, expect, it } from "vitest";

import { fasterClock } from "./faster-clock.ts";

const fires = (clock: ReturnType<typeof fasterClock>, ms: number): Promise<number> =>
  new Promise((resolve) => void clock.setTimeout(() => resolve(clock.now()), ms));

describe("a clock that runs faster", () => {
  it("starts now, and has let a minute pass when a timer of a minute fires", async () => {
    const started = Date.now();
    const clock = fasterClock(1000);
    const first = clock.now();
    expect(first).toBeGreaterThanOrEqual(started - 1);
    const keepsAlive = setInterval(() => {}, 10);
    // Node's own timers may fire a millisecond early.
    expect((await fires(clock, 60_000)) - first).toBeGreaterThanOrEqual(60_000 - 2 * 1000);
    clearInterval(keepsAlive);
  });

  it("never goes back when its speed changes", () => {
    const clock = fasterClock(1000);
    const seen: number[] = [];
    for (const speed of [500, 1, 2000, 1]) {
      clock.setSpeed(speed);
      seen.push(clock.now());
    }
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
  });

  it("goes on from the beginning of the next hour", () => {
    const clock = fasterClock(1);
    const before = clock.now();
    clock.toNextHour();
    expect(Math.floor(clock.now() / 3_600_000)).toBe(Math.floor(before / 3_600_000) + 1);
    expect(clock.now() % 3_600_000).toBeLessThan(60_000);
  });

  it.each([0, -1, Number.NaN, Infinity])("refuses a speed of %s", (speed) => {
    expect(() => fasterClock(speed)).toThrow(RangeError);
  });
});
