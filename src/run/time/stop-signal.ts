import { HarnessLimitError } from "../../base/harness-limit.ts";
import { FirstBreach, RunTimeout } from "../skip-reason.ts";

/** An uncaught error of the harness. It stops the run, which ends with a report of the evidence so far. */
export class HarnessFailure extends Error {
  override readonly name = "HarnessFailure";
}

/**
 * Returns why a run ended early, as part of a sentence. After a run timeout, appends `figures`, e.g. "3 of 9 probes
 * were done".
 */
export const describeStop = ({ reason }: AbortSignal, figures = ""): string =>
  reason instanceof HarnessFailure
    ? `the harness itself failed: ${reason.message}`
    : reason instanceof HarnessLimitError || reason instanceof FirstBreach
      ? reason.message
      : reason instanceof RunTimeout
        ? [reason.message, ...(figures === "" ? [] : [figures])].join(": ")
        : "interrupted";

interface StopSignal {
  readonly signal: AbortSignal;
  readonly stop: (reason: Error) => void;
  readonly release: () => void;
  /** Must be called after the run. Ends waits that are still going on, such as those of an abandoned probe. */
  readonly end: () => void;
}

/** Starts a signal that stops a run early, when the caller's signal aborts or after `maxMs` of real time. */
export function startStopSignal(callerSignal: AbortSignal, maxMs: number): StopSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort(callerSignal.reason);
  callerSignal.addEventListener("abort", stop, { once: true });
  if (callerSignal.aborted) stop();
  const timer = Number.isFinite(maxMs)
    ? setTimeout(() => controller.abort(new RunTimeout(maxMs)), Math.min(maxMs, maxTimerMs))
    : null;
  return {
    signal: controller.signal,
    stop: (reason) => controller.abort(reason),
    end: () => controller.abort(new Error("the run is over")),
    release: () => {
      callerSignal.removeEventListener("abort", stop);
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Longest delay that a timer of Node accepts. */
const maxTimerMs = 2 ** 31 - 1;
