import { describe, expect, it } from "vitest";
import { acceleratedClock, virtualClock } from "./clock.ts";

describe("a virtual clock", () => {
  it("moves from timer to timer and waits for the work of each one", async () => {
    const clock = virtualClock(0);
    const seen: string[] = [];
    for (const ms of [30, 10, 10, 20]) clock.setTimeout(() => seen.push(`timer ${ms} at ${clock.now()}`), ms);
    await clock.advance(25, async () => void seen.push(`settled at ${clock.now()}`));
    expect(seen).toEqual([
      "settled at 0",
      "timer 10 at 10",
      "timer 10 at 10",
      "settled at 10",
      "timer 20 at 20",
      "settled at 20",
    ]);
    expect(clock.now()).toBe(25);
  });

  it("runs timers that are set during that wait at their instant", async () => {
    const clock = virtualClock(0);
    const seen: number[] = [];
    let rounds = 0;
    const settled = async () => {
      rounds += 1;
      if (rounds <= 3) clock.setTimeout(() => seen.push(clock.now()), 5);
    };
    await clock.advance(100, settled);
    expect(seen).toEqual([5, 10, 15]);
    expect(clock.now()).toBe(100);
  });

  it("runs timers that other timers set, but no cleared ones", async () => {
    const clock = virtualClock(0);
    const seen: number[] = [];
    clock.setTimeout(() => clock.setTimeout(() => seen.push(clock.now()), 0), 7);
    clock.clearTimeout(clock.setTimeout(() => seen.push(-1), 8));
    await clock.advance(9);
    expect(seen).toEqual([8]);
  });

  it("runs moves in order", async () => {
    const clock = virtualClock(0);
    const ends: number[] = [];
    const slowly = () => new Promise<void>((resolve) => void setImmediate(resolve));
    await Promise.all([10, 20, 30].map((ms) => clock.advance(ms, slowly).then(() => ends.push(clock.now()))));
    expect(ends).toEqual([10, 30, 60]);
  });

  it("can move after a failed move", async () => {
    const clock = virtualClock(0);
    await expect(clock.advance(1, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await clock.advance(5);
    expect(clock.now()).toBe(5);
  });
});

const fires = (clock: ReturnType<typeof acceleratedClock>, ms: number): Promise<number> =>
  new Promise((resolve) => void clock.setTimeout(() => resolve(clock.now()), ms));

describe("a clock that runs faster", () => {
  it("starts now and runs a timer of a minute after a minute of its time", async () => {
    const started = Date.now();
    const clock = acceleratedClock(1000);
    const first = clock.now();
    expect(first).toBeGreaterThanOrEqual(started - 1);
    const keepsAlive = setInterval(() => {}, 10);
    // Node's own timers may fire a millisecond early.
    expect((await fires(clock, 60_000)) - first).toBeGreaterThanOrEqual(60_000 - 2 * 1000);
    clearInterval(keepsAlive);
  });

  it("never goes back when its speed changes", () => {
    const clock = acceleratedClock(1000);
    const seen: number[] = [];
    for (const speed of [500, 1, 2000, 1]) {
      clock.setSpeed(speed);
      seen.push(clock.now());
    }
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
  });

  it("can skip to the beginning of the next hour", () => {
    const clock = acceleratedClock(1);
    const before = clock.now();
    clock.skipToNextHour();
    expect(Math.floor(clock.now() / 3_600_000)).toBe(Math.floor(before / 3_600_000) + 1);
    expect(clock.now() % 3_600_000).toBeLessThan(60_000);
  });

  it.each([0, -1, Number.NaN, Infinity])("refuses a speed of %s", (speed) => {
    expect(() => acceleratedClock(speed)).toThrow(RangeError);
  });
});
