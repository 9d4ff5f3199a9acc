import { setImmediate as nextEventLoopTurn } from "node:timers/promises";

import type { RunClock } from "./run-clock.ts";

interface ClockUser {
  waiting: { leftMs: number; readonly why: string; readonly done: PromiseWithResolvers<void> } | null;
}

/** The test clock advances in whole seconds, so that similar waits end together. */
const stepMs = 1000;

/** Lets probes share a test clock, which advances when all probes wait. Returns a function that adds a probe. */
export function shareClock(time: RunClock) {
  const members = new Set<ClockUser>();
  let isAdvancing = false;

  const advanceIfAllWait = async (): Promise<void> => {
    // A probe that just started may be about to wait. This pause lets the probe begin its wait.
    await nextEventLoopTurn();
    const waits = [...members].flatMap(({ waiting }) => waiting ?? []);
    const [shortest] = waits.toSorted((one, other) => one.leftMs - other.leftMs);
    if (isAdvancing || shortest === undefined || waits.length < members.size) return;
    isAdvancing = true;
    const ms = Math.ceil(shortest.leftMs / stepMs) * stepMs;
    try {
      await time.passTime(ms, shortest.why);
    } catch (error) {
      for (const { done } of waits) done.reject(error);
    }
    isAdvancing = false;
    for (const wait of waits) {
      wait.leftMs -= ms;
      if (wait.leftMs <= 0) wait.done.resolve();
    }
    // Checks again: a probe may have ended during the advance, so that all remaining probes now wait.
    void advanceIfAllWait();
  };

  return () => {
    const member: ClockUser = { waiting: null };
    members.add(member);
    const passTime: RunClock["passTime"] = async (ms, why) => {
      if (!members.has(member)) return time.passTime(ms, why);
      if (ms <= 0) return;
      const done = Promise.withResolvers<void>();
      member.waiting = { leftMs: ms, why, done };
      void advanceIfAllWait();
      try {
        await done.promise;
      } finally {
        member.waiting = null;
      }
    };
    return {
      /** The clock that the probe must use. Waits by this clock may last up to one second too long. */
      time: { ...time, passTime },
      leave: (): void => {
        members.delete(member);
        void advanceIfAllWait();
      },
    };
  };
}
