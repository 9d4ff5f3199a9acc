import { describe, expect, it } from "vitest";

import { virtualTimers } from "./simulate-run.ts";

describe("virtual timers", () => {
  it("wake sleepers in the order of their time, and show that time", async () => {
    const { now, sleep } = virtualTimers();
    const { signal } = new AbortController();
    const woken: [string, number][] = [];
    const nap = async (name: string, ms: number): Promise<void> => {
      await sleep(ms, signal);
      woken.push([name, now()]);
    };
    await Promise.all([nap("late", 90_000), nap("early", 1000).then(() => nap("again", 2000))]);
    expect(woken).toEqual([
      ["early", 1000],
      ["again", 3000],
      ["late", 90_000],
    ]);
  });
});
