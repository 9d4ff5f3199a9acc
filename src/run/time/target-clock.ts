import { messageOf } from "../../base/errors.ts";
import type { ClockControl } from "../../target/target.ts";
import { WaitRefused } from "./wait-budget.ts";

/** A target's clock as far as the run has moved it, in milliseconds. */
export interface TargetClock {
  /** Moves come one after another, so that each knows what the clock shows. Rejects with {@link WaitRefused} where the target refuses. */
  readonly advance: (ms: number) => Promise<void>;
  readonly offsetMs: () => number;
  /** A move that is under way included. */
  readonly maxOffsetMs: () => number;
}

export function startTargetClock(control: ClockControl): TargetClock {
  let movedMs = 0;
  let movedAtMostMs = 0;
  let moving: Promise<void> = Promise.resolve();
  const advance = (ms: number): Promise<void> => {
    moving = moving.then(async () => {
      movedAtMostMs += ms;
      try {
        await control.advance(ms);
      } catch (error) {
        throw new WaitRefused(messageOf(error));
      }
      movedMs += ms;
    });
    return moving;
  };
  return { advance, offsetMs: () => movedMs, maxOffsetMs: () => movedAtMostMs };
}
