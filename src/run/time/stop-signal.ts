import { duration } from "../../base/duration.ts";
import { need, SkipError } from "../skip-reason.ts";

/** The run has used up `maxTimeMs`. */
export class RunTimeout extends SkipError {
  override readonly name = "TimeUp";

  constructor(mostMs: number) {
    super(`it was not over after ${duration(mostMs)}`, need("maxTimeMs"));
  }
}

/**
 * An error outside of any probe, such as an unhandled rejection. The run ends with a report of the evidence so far.
 */
export class HarnessFailure extends Error {
  override readonly name = "HarnessFailed";
}

/** Why a run ended early, as a clause. After a timeout it includes `figures`. */
export const describeStop = ({ reason }: AbortSignal, figures = ""): string =>
  reason instanceof HarnessFailure
    ? `the harness itself failed: ${reason.message}`
    : reason instanceof RunTimeout
      ? [reason.message, ...(figures === "" ? [] : [figures])].join(": ")
      : "interrupted";

/** A signal that stops a run early, on the caller's signal or after a timeout. */
export interface StopSignal {
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/** @param maxMs real time in milliseconds, `Infinity` for no timeout */
export function startStopSignal(asked: AbortSignal, mostMs: number): StopSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort(asked.reason);
  asked.addEventListener("abort", stop, { once: true });
  if (asked.aborted) stop();
  const timer = Number.isFinite(mostMs)
    ? setTimeout(() => controller.abort(new RunTimeout(mostMs)), Math.min(mostMs, longestTimerMs))
    : null;
  return {
    signal: controller.signal,
    release: () => {
      asked.removeEventListener("abort", stop);
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Node's timers take no longer delay. */
const longestTimerMs = 2 ** 31 - 1;
