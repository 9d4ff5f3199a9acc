import { harnessLimitOf } from "../../base/harness-limit.ts";
import { TargetDied } from "../../load/target-watch.ts";
import { ControlCallFailed } from "../../target/control-calls.ts";
import type { ClockControl } from "../../target/target.ts";
import { machineTimers, type Timers } from "../../run/time/run-clock.ts";

/**
 * How long to retry a failed advance of a test clock. During a new deployment, a target may not answer for some
 * seconds.
 */
const retryForMs = 8000;
const retryPauseMs = 1000;

/**
 * Returns a test clock whose failed advances are retried for 8 s. Then {@link TargetDied} ends the load. Use it only
 * between trials: a retry may advance the clock twice, because a failed advance may have taken effect.
 */
export const withRepeatedAdvance = (clock: ClockControl, timers: Timers = machineTimers): ClockControl => ({
  ...clock,
  advance: async (ms) => {
    for (const untilMs = timers.now() + retryForMs; ; await timers.sleep(retryPauseMs, AbortSignal.any([]))) {
      try {
        return await clock.advance(ms);
      } catch (error) {
        if (!(error instanceof ControlCallFailed) || harnessLimitOf(error) !== null) throw error;
        if (!error.isTemporary || timers.now() >= untilMs) throw new TargetDied(error.message);
      }
    }
  },
});
