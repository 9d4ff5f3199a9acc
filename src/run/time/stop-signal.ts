import { duration } from "../../base/duration.ts";
import { need, SkipError } from "../skip-reason.ts";

/** The run has taken all the time that it may. */
export class RunTimeout extends SkipError {
  override readonly name = "TimeUp";

  constructor(mostMs: number) {
    super(`it was not over after ${duration(mostMs)}`, need("maxTimeMs"));
  }
}

/** Something in the process failed that nothing waits for: the run ends with a report of what it has seen. */
export class HarnessFailure extends Error {
  override readonly name = "HarnessFailed";
}

/** Why a run was ended early, for a sentence in brackets; of its time with figures of what was done by then. */
export const describeStop = ({ reason }: AbortSignal, figures = ""): string =>
  reason instanceof HarnessFailure
    ? `the harness itself failed: ${reason.message}`
    : reason instanceof RunTimeout
      ? [reason.message, ...(figures === "" ? [] : [figures])].join(": ")
      : "interrupted";

/** The end of a run that may come before it is over: by whoever asked for it, or by its time. */
export interface StopSignal {
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/** @param mostMs real time, in milliseconds; infinite for none */
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

/** A timer of Node's cannot be set for longer. */
const longestTimerMs = 2 ** 31 - 1;
