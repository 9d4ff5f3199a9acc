import type { LoadProgress } from "./engine.ts";

/** Watches a load that should have ended, and ends it where its target answers nothing any more. */
export interface StallTimeout {
  /** Aborts when the caller's signal does, or when patience is lost. */
  readonly signal: AbortSignal;
  readonly observe: (progress: LoadProgress) => void;
}

/** So long may a load take beyond what it should, in ms. A target that is slow, and answers, gets all the time that it needs. */
const graceMs = 60_000;
/** So long without an answer is no slowness. In ms. */
const silentMs = 45_000;

class OutOfPatience extends Error {
  override name = "OutOfPatience";
}

export function startStallTimeout(stop: AbortSignal): StallTimeout {
  const lost = new AbortController();
  let answered = 0;
  let answeredMs = 0;
  return {
    signal: AbortSignal.any([stop, lost.signal]),
    observe: ({ elapsedMs, expectedMs, admitted, limited }) => {
      if (admitted + limited !== answered) {
        answered = admitted + limited;
        answeredMs = elapsedMs;
      }
      const isOverdue = elapsedMs > expectedMs + graceMs && elapsedMs - answeredMs > silentMs;
      if (isOverdue && !lost.signal.aborted)
        lost.abort(new OutOfPatience(`no 200 and no 429 for ${Math.round((elapsedMs - answeredMs) / 1000)} s`));
    },
  };
}

/** The user did it. */
export const interrupted = "interrupted";

/** Why a load was stopped, as its evidence keeps it; `null` where it was not. */
export function stopReason(signal: AbortSignal): string | null {
  if (!signal.aborted) return null;
  return signal.reason instanceof OutOfPatience ? signal.reason.message : interrupted;
}
