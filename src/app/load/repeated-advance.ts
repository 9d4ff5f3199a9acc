import { harnessLimitOf } from "../../base/harness-limit.ts";
import { TargetDied } from "../../load/target-watch.ts";
import { ControlCallFailed } from "../../target/control-calls.ts";
import type { ClockControl } from "../../target/target.ts";
import { machineTimers, type Timers } from "../../run/time/run-clock.ts";

/** How long a gateway may answer for the target, or connections may break, as in a deployment. */
const awayForMs = 8000;
const pauseMs = 1000;

/**
 * A test clock whose advance is sent again for 8 s if the target is away. Only for times between trials: an advance
 * without a response may have had its effect. If the clock cannot be advanced, {@link TargetDied} ends the load.
 */
export const withRepeatedAdvance = (clock: ClockControl, timers: Timers = machineTimers): ClockControl => ({
  ...clock,
  advance: async (ms) => {
    for (const untilMs = timers.now() + awayForMs; ; await timers.sleep(pauseMs, AbortSignal.any([]))) {
      try {
        return await clock.advance(ms);
      } catch (error) {
        if (!(error instanceof ControlCallFailed) || harnessLimitOf(error) !== null) throw error;
        if (!error.isTemporary || timers.now() >= untilMs) throw new TargetDied(error.message);
      }
    }
  },
});
