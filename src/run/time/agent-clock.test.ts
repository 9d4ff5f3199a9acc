import { describe, expect, it } from "vitest";

import { createAgentClock } from "./agent-clock.ts";

/** Real time that passes only while somebody waits for it, and agents that take so much of it, or wait for a move. */
function stage(agentsFollow = false, endsByMove = true) {
  let nowMs = 0;
  let moves = 0;
  const ends: { readonly atMs: number; readonly end: () => void }[] = [];
  const pause = async (ms: number): Promise<void> => {
    nowMs += ms;
    for (const { atMs, end } of ends) if (nowMs >= atMs) end();
    await Promise.resolve();
  };
  const time = createAgentClock(agentsFollow, pause);
  const isRealAfter = async (agentMs: number): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.push({ atMs: nowMs + agentMs, end: resolve });
    await time.awaitAgent(promise, async () => {
      moves += 1;
      if (endsByMove) resolve();
      while (!endsByMove && nowMs < 60_000) await pause(50);
      return promise;
    });
    return time.isReal();
  };
  return { isRealAfter, moves: () => moves, nowMs: () => nowMs };
}

describe("the time in which agents live", () => {
  it("is real where one ends by itself after a second, and no clock is moved for the next", async () => {
    const { isRealAfter, moves } = stage();
    expect(await isRealAfter(1500)).toBe(true);
    expect(await isRealAfter(14_000)).toBe(true);
    expect(moves()).toBe(0);
  });

  it("is not known by an answer that came at once", async () => {
    const { isRealAfter, moves } = stage();
    expect([await isRealAfter(100), moves()]).toEqual([false, 0]);
  });

  it("is the clock's where nothing ends without a move, and no other is waited for", async () => {
    const { isRealAfter, moves, nowMs } = stage();
    expect([await isRealAfter(Infinity), moves()]).toEqual([false, 1]);
    const beganMs = nowMs();
    expect(await isRealAfter(Infinity)).toBe(false);
    expect([nowMs() - beganMs, moves()]).toEqual([0, 2]);
  });

  it("is the clock's again where one came late by itself, and the next comes by a move alone", async () => {
    const { isRealAfter, moves } = stage();
    expect(await isRealAfter(1500)).toBe(true);
    expect([await isRealAfter(Infinity), moves()]).toEqual([false, 1]);
  });

  it("stays real where one takes longer than it is waited for, and no move ends it", async () => {
    const { isRealAfter, moves } = stage(false, false);
    expect(await isRealAfter(1500)).toBe(true);
    expect([await isRealAfter(40_000), moves()]).toEqual([true, 1]);
  });

  it("is the clock's from the start where somebody has said so", async () => {
    const { isRealAfter, moves, nowMs } = stage(true);
    expect([await isRealAfter(1500), moves(), nowMs()]).toEqual([false, 1, 0]);
  });
});
