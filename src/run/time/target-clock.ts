import { messageOf } from "../../base/errors.ts";
import type { ClockControl } from "../../target/target.ts";
import { WaitRefused } from "./wait-budget.ts";

/** A target's test clock, and how far the run has advanced it, in milliseconds. */
export interface TargetClock {
  /** Advances the clock. Calls run one at a time. Rejects with {@link WaitRefused} if the target refuses. */
  readonly advance: (ms: number) => Promise<void>;
  readonly offsetMs: () => number;
  /** Includes an advance that has not finished. */
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
