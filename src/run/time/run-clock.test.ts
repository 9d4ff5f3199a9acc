import { describe, expect, it } from "vitest";

import { createAgentClock } from "./run-clock.ts";

/**
 * Simulates real time, which passes only in waits. The simulated agents need either real time or an advance of the test
 * clock.
 */
function simulate(agentsFollow = false, endsByAdvance = true) {
  let nowMs = 0;
  let advances = 0;
  const ends: { readonly atMs: number; readonly end: () => void }[] = [];
  const pause = async (ms: number): Promise<void> => {
    nowMs += ms;
    for (const { atMs, end } of ends) if (nowMs >= atMs) end();
    await Promise.resolve();
  };
  const time = createAgentClock(agentsFollow, pause);
  const usesRealTimeAfter = async (agentMs: number): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.push({ atMs: nowMs + agentMs, end: resolve });
    await time.awaitAgent(promise, async () => {
      advances += 1;
      if (endsByAdvance) resolve();
      while (!endsByAdvance && nowMs < 60_000) await pause(50);
      return promise;
    });
    return time.usesRealTime();
  };
  return { usesRealTimeAfter, advances: () => advances, nowMs: () => nowMs };
}

describe("the clock of agents", () => {
  it("is real time if an agent ends by itself after a second; the clock is not advanced for the next one", async () => {
    const { usesRealTimeAfter, advances } = simulate();
    expect(await usesRealTimeAfter(1500)).toBe(true);
    expect(await usesRealTimeAfter(14_000)).toBe(true);
    expect(advances()).toBe(0);
  });

  it("stays unknown after a response at once", async () => {
    const { usesRealTimeAfter, advances } = simulate();
    expect([await usesRealTimeAfter(100), advances()]).toEqual([false, 0]);
  });

  it("is the test clock if an agent ends only after an advance; the next one does not wait in real time", async () => {
    const { usesRealTimeAfter, advances, nowMs } = simulate();
    expect([await usesRealTimeAfter(Infinity), advances()]).toEqual([false, 1]);
    const beganMs = nowMs();
    expect(await usesRealTimeAfter(Infinity)).toBe(false);
    expect([nowMs() - beganMs, advances()]).toEqual([0, 2]);
  });

  it("changes back to the test clock if a later agent ends only after an advance", async () => {
    const { usesRealTimeAfter, advances } = simulate();
    expect(await usesRealTimeAfter(1500)).toBe(true);
    expect([await usesRealTimeAfter(Infinity), advances()]).toEqual([false, 1]);
  });

  it("stays real time if an agent takes longer than the wait, and no advance ends it", async () => {
    const { usesRealTimeAfter, advances } = simulate(false, false);
    expect(await usesRealTimeAfter(1500)).toBe(true);
    expect([await usesRealTimeAfter(40_000), advances()]).toEqual([true, 1]);
  });

  it("is the test clock from the start if the user says so", async () => {
    const { usesRealTimeAfter, advances, nowMs } = simulate(true);
    expect([await usesRealTimeAfter(1500), advances(), nowMs()]).toEqual([false, 1, 0]);
  });
});
