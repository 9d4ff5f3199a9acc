import { setImmediate as nextEventLoopTurn } from "node:timers/promises";

import type { RunClock } from "./run-clock.ts";

interface Member {
  waiting: { leftMs: number; readonly why: string; readonly done: PromiseWithResolvers<void> } | null;
}

/** Advances by whole seconds. Waits that end at nearly the same time then need only one advance. */
const stepMs = 1000;

/**
 * Lets several probes share a test clock. The clock advances only while all of them wait, to the end of the shortest
 * wait. So it stands still while a probe sends, as if the probe were alone.
 *
 * @returns a function that adds a participant
 */
export function shareClock(time: RunClock) {
  const members = new Set<Member>();
  let isAdvancing = false;

  const advanceIfAllWait = async (): Promise<void> => {
    // Probes that start or continue at the same moment go first.
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
    // Another participant may have left meanwhile.
    void advanceIfAllWait();
  };

  return () => {
    const member: Member = { waiting: null };
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
      /** The probe's own view of the clock. Its waits may end up to a second late. */
      time: { ...time, passTime },
      /** Leaves, so that the others no longer wait for this probe. */
      leave: (): void => {
        members.delete(member);
        void advanceIfAllWait();
      },
    };
  };
}
