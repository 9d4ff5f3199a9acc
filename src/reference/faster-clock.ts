import { realClock, type Clock } from "./clock.ts";
import { hourMs } from "./limits/windows.ts";

/** A clock that never stands still and can be made to run faster. */
export interface FasterClock extends Clock {
  /** From now on it runs `speed` times as fast as the machine's. Timers that were set before keep their time. */
  setSpeed(speed: number): void;
  /** Moves it forward to the beginning of the next hour. Timers that were set before keep their time. */
  toNextHour(): void;
}

/**
 * A clock that starts now and runs `speed` times as fast as the machine's, so that an hour's window passes in seconds. Instants
 * are whole Unix milliseconds and never go back; a timer is as exact as the machine's, that is `speed` milliseconds on this clock.
 *
 * @throws {RangeError} where `speed` is not above 0
 */
export function fasterClock(speed: number): FasterClock {
  const real = realClock();
  let rate = checked(speed);
  let sinceMs = real.now();
  let since = performance.now();
  const exactNow = (): number => sinceMs + (performance.now() - since) * rate;
  const goOnFrom = (ms: number): void => {
    sinceMs = ms;
    since = performance.now();
  };
  return {
    now: () => Math.floor(exactNow()),
    setTimeout: (run, ms) => real.setTimeout(run, Math.ceil(ms / rate)),
    clearTimeout: (timer) => real.clearTimeout(timer),
    setSpeed: (wanted) => {
      const next = checked(wanted);
      goOnFrom(exactNow());
      rate = next;
    },
    toNextHour: () => goOnFrom((Math.floor(exactNow() / hourMs) + 1) * hourMs),
  };
}

function checked(speed: number): number {
  if (speed > 0 && Number.isFinite(speed)) return speed;
  throw new RangeError(`A clock cannot run ${speed} times as fast: the speed must be above 0.`);
}
