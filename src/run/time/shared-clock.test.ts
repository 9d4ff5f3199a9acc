import { describe, expect, it } from "vitest";

import { shareClock } from "./shared-clock.ts";
import { startRunClock } from "./run-clock.ts";

/** Several that wait so long, one wait after another, on one clock: its moves, and what it had been moved by as each wait was over. */
async function waiting(
  ...members: readonly (readonly number[])[]
): Promise<{ readonly moves: readonly number[]; readonly overAt: readonly (readonly number[])[] }> {
  const moves: number[] = [];
  const time = startRunClock({
    clock: { advance: (ms) => Promise.resolve(void moves.push(ms)), settleMs: 0, agentsFollow: true },
    maxWaitMs: 0,
    signal: new AbortController().signal,
  });
  const join = shareClock(time);
  const overAt = await Promise.all(
    members.map(async (waits) => {
      const { time: own, leave } = join();
      const over: number[] = [];
      for (const ms of waits) {
        await own.passTime(ms, "a test");
        over.push(own.clockOffsetMs());
      }
      leave();
      return over;
    }),
  );
  return { moves, overAt };
}

describe("several on one clock that is moved", () => {
  it.each([
    ["one alone waits as ever", [[5000, 3000]], [5000, 3000], [[5000, 8000]]],
    ["the shortest wait is over first", [[5000], [2000]], [2000, 3000], [[5000], [2000]]],
    ["equal waits are one move", [[4000, 4000], [4000]], [4000, 4000], [[4000, 8000], [4000]]],
    ["waits that end within a second end at once", [[1200], [1900]], [2000], [[2000], [2000]]],
    ["no wait is none", [[0, 1000]], [1000], [[0, 1000]]],
  ])("%s", async (_, waits, moves, overAt) => {
    expect(await waiting(...waits)).toEqual({ moves, overAt });
  });

  it("stand still while one of them sends", async () => {
    const moves: number[] = [];
    const time = startRunClock({
      clock: { advance: (ms) => Promise.resolve(void moves.push(ms)), settleMs: 0, agentsFollow: true },
      maxWaitMs: 0,
      signal: new AbortController().signal,
    });
    const join = shareClock(time);
    const [waits, sends] = [join(), join()];
    const over = waits.time.passTime(1000, "a test");
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(moves).toEqual([]);
    sends.leave();
    await over;
    expect(moves).toEqual([1000]);
  });

  it("all learn where the clock cannot be moved", async () => {
    const time = startRunClock({
      clock: { advance: () => Promise.reject(new Error("stuck")), settleMs: 0, agentsFollow: true },
      maxWaitMs: 0,
      signal: new AbortController().signal,
    });
    const join = shareClock(time);
    const [one, other] = [join(), join()];
    const waits = await Promise.allSettled([one.time.passTime(1000, "a test"), other.time.passTime(2000, "a test")]);
    expect(waits.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });
});
