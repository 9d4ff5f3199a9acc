import { harnessLimitOf } from "../../base/harness-limit.ts";
import { TargetDied } from "../../load/target-watch.ts";
import { ControlCallFailed } from "../../target/control-calls.ts";
import type { ClockControl } from "../../target/target.ts";
import { machineTimers, type Timers } from "../../run/time/run-clock.ts";

/**
 * How long an advance is repeated. A gateway may answer for the target, or connections may break, for example while the target is deployed
 * anew.
 */
const awayForMs = 8000;
const pauseMs = 1000;

/**
 * Wraps a test clock: an advance is sent again for 8 s if the target is away. Use it only between trials, because an advance without a
 * response may have had its effect. If the clock cannot be advanced, {@link TargetDied} ends the load.
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
