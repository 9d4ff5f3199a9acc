import { setImmediate as turnOfEvents } from "node:timers/promises";

import type { RunClock } from "./run-clock.ts";

/** One of several that let time pass on a clock that moves for all. */
export interface ClockParticipant {
  /** Its waits end when so much has passed on the shared clock, or up to a second later. */
  readonly time: RunClock;
  /** From now on nobody waits for it. */
  readonly leave: () => void;
}

interface Member {
  waiting: { leftMs: number; readonly why: string; readonly over: PromiseWithResolvers<void> } | null;
}

/** A clock is moved by whole seconds, so that waits that end at nearly the same time end at once. */
const stepMs = 1000;

/**
 * Lets several share a clock that is moved: it moves only while all of them wait, and no further than to the end of the shortest wait. So whoever sends does so
 * while the clock stands still, as if it were alone; in real time a wait may last as long as the others send.
 *
 * @returns joins one more
 */
export function shareClock(time: RunClock): () => ClockParticipant {
  const members = new Set<Member>();
  let isMoving = false;

  const moveOn = async (): Promise<void> => {
    // Those that begin, or go on, at the same time have had their turn by then.
    await turnOfEvents();
    const waits = [...members].flatMap(({ waiting }) => waiting ?? []);
    const [shortest] = waits.toSorted((one, other) => one.leftMs - other.leftMs);
    if (isMoving || shortest === undefined || waits.length < members.size) return;
    isMoving = true;
    const ms = Math.ceil(shortest.leftMs / stepMs) * stepMs;
    try {
      await time.passTime(ms, shortest.why);
    } catch (error) {
      for (const { over } of waits) over.reject(error);
    }
    isMoving = false;
    for (const wait of waits) {
      wait.leftMs -= ms;
      if (wait.leftMs <= 0) wait.over.resolve();
    }
    // Somebody may have left meanwhile.
    void moveOn();
  };

  return () => {
    const member: Member = { waiting: null };
    members.add(member);
    const passTime: RunClock["passTime"] = async (ms, why) => {
      if (!members.has(member)) return time.passTime(ms, why);
      if (ms <= 0) return;
      const over = Promise.withResolvers<void>();
      member.waiting = { leftMs: ms, why, over };
      void moveOn();
      try {
        await over.promise;
      } finally {
        member.waiting = null;
      }
    };
    const leave = (): void => {
      members.delete(member);
      void moveOn();
    };
    return { time: { ...time, passTime }, leave };
  };
}
