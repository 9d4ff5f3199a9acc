import { describe, expect, it } from "vitest";

import { shareClock } from "./shared-clock.ts";
import { startRunClock } from "./run-clock.ts";

/**
 * Runs participants with these waits. Returns the advances of the clock, and the offset of the clock at the end of each
 * wait.
 */
async function runParticipants(
  ...waitsOfEach: readonly (readonly number[])[]
): Promise<{ readonly advances: readonly number[]; readonly endedAt: readonly (readonly number[])[] }> {
  const advances: number[] = [];
  const time = startRunClock({
    clock: { advance: (ms) => Promise.resolve(void advances.push(ms)), settleMs: 0, agentsFollow: true },
    maxWaitMs: 0,
    signal: new AbortController().signal,
  });
  const join = shareClock(time);
  const endedAt = await Promise.all(
    waitsOfEach.map(async (waits) => {
      const { time: own, leave } = join();
      const ended: number[] = [];
      for (const ms of waits) {
        await own.passTime(ms, "a test");
        ended.push(own.clockOffsetMs());
      }
      leave();
      return ended;
    }),
  );
  return { advances, endedAt };
}

describe("several probes on a shared clock", () => {
  it.each([
    ["a single probe waits as usual", [[5000, 3000]], [5000, 3000], [[5000, 8000]]],
    ["the shortest wait ends first", [[5000], [2000]], [2000, 3000], [[5000], [2000]]],
    ["equal waits need one advance", [[4000, 4000], [4000]], [4000, 4000], [[4000, 8000], [4000]]],
    ["waits that end within the same second end together", [[1200], [1900]], [2000], [[2000], [2000]]],
    ["a wait of 0 needs no advance", [[0, 1000]], [1000], [[0, 1000]]],
  ])("%s", async (_, waits, advances, endedAt) => {
    expect(await runParticipants(...waits)).toEqual({ advances, endedAt });
  });

  it("do not advance the clock while one of them sends", async () => {
    const advances: number[] = [];
    const time = startRunClock({
      clock: { advance: (ms) => Promise.resolve(void advances.push(ms)), settleMs: 0, agentsFollow: true },
      maxWaitMs: 0,
      signal: new AbortController().signal,
    });
    const join = shareClock(time);
    const [waits, sends] = [join(), join()];
    const ended = waits.time.passTime(1000, "a test");
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(advances).toEqual([]);
    sends.leave();
    await ended;
    expect(advances).toEqual([1000]);
  });

  it("all get the error if the clock cannot be advanced", async () => {
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
