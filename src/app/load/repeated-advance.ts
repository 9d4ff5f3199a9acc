import { harnessLimitOf } from "../../base/harness-limit.ts";
import { TargetDied } from "../../load/target-watch.ts";
import { ControlCallFailed } from "../../target/control-calls.ts";
import type { ClockControl } from "../../target/target.ts";
import { machineTimers, type Timers } from "../../run/time/run-clock.ts";

/** How long a failed advance is repeated. While a target is deployed again, a gateway may answer in its place, or connections may break. */
const retryForMs = 8000;
const retryPauseMs = 1000;

/**
 * Wraps a test clock so that a failed advance is repeated for 8 s. If it still fails, {@link TargetDied} ends the load. Use this clock only
 * between trials, because an advance that got no response may have taken effect.
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
