import { describe, expect, it } from "vitest";
import { virtualClock } from "./clock.ts";

describe("a virtual clock", () => {
  it("goes from timer to timer, and stands still until what began there has settled", async () => {
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

  it("runs timers that are set while something settles, at their instant", async () => {
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

  it("runs timers that other timers set, and none that were cleared", async () => {
    const clock = virtualClock(0);
    const seen: number[] = [];
    clock.setTimeout(() => clock.setTimeout(() => seen.push(clock.now()), 0), 7);
    clock.clearTimeout(clock.setTimeout(() => seen.push(-1), 8));
    await clock.advance(9);
    expect(seen).toEqual([8]);
  });

  it("takes moves one after another", async () => {
    const clock = virtualClock(0);
    const ends: number[] = [];
    const slowly = () => new Promise<void>((resolve) => void setImmediate(resolve));
    await Promise.all([10, 20, 30].map((ms) => clock.advance(ms, slowly).then(() => ends.push(clock.now()))));
    expect(ends).toEqual([10, 30, 60]);
  });

  it("moves on after a move that failed", async () => {
    const clock = virtualClock(0);
    await expect(clock.advance(1, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await clock.advance(5);
    expect(clock.now()).toBe(5);
  });
});
