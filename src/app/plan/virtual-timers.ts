import { setImmediate as turn } from "node:timers/promises";

import type { Timers } from "../../run/time/run-clock.ts";

interface Sleeper {
  readonly untilMs: number;
  readonly wake: () => void;
}

/** So many turns of the event loop without a new sleeper mean that everybody sleeps. */
const quietTurns = 3;

/** Time that passes as soon as everybody waits for it. */
export function virtualTimers(): Timers {
  let nowMs = 0;
  let isWaking = false;
  const sleepers: Sleeper[] = [];

  const wakeNext = async (): Promise<void> => {
    isWaking = true;
    while (sleepers.length > 0) {
      for (let turns = 0, known = -1; turns < quietTurns; turns++) {
        if (sleepers.length !== known) turns = 0;
        known = sleepers.length;
        await turn();
      }
      sleepers.sort((one, other) => one.untilMs - other.untilMs);
      const next = sleepers.shift();
      if (next === undefined) break;
      nowMs = Math.max(nowMs, next.untilMs);
      next.wake();
    }
    isWaking = false;
  };

  const sleep = (ms: number): Promise<void> =>
    new Promise((wake) => {
      sleepers.push({ untilMs: nowMs + ms, wake });
      if (!isWaking) void wakeNext();
    });

  return { now: () => nowMs, sleep };
}
