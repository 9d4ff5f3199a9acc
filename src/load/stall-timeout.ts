import type { LoadProgress } from "./engine.ts";
import { TargetDied } from "./target-watch.ts";

/** Aborts a load that takes too long because its target no longer responds. */
export interface StallTimeout {
  /** Aborts when the caller's signal aborts, or when the load has stalled. */
  readonly signal: AbortSignal;
  readonly observe: (progress: LoadProgress) => void;
}

/** How many ms a load may take beyond its expected duration. After that, it goes on only while the target responds. */
const graceMs = 60_000;
/** How many ms without a 2xx or 429 the target may take then, before the load counts as stalled. */
const maxSilentMs = 45_000;

class StalledError extends Error {
  override name = "StalledError";
}

export function startStallTimeout(stop: AbortSignal): StallTimeout {
  const stalled = new AbortController();
  let answered = 0;
  let answeredMs = 0;
  return {
    signal: AbortSignal.any([stop, stalled.signal]),
    observe: ({ elapsedMs, expectedMs, admitted, refused }) => {
      if (admitted + refused !== answered) {
        answered = admitted + refused;
        answeredMs = elapsedMs;
      }
      const silentMs = elapsedMs - answeredMs;
      if (elapsedMs > expectedMs + graceMs && silentMs > maxSilentMs && !stalled.signal.aborted)
        stalled.abort(new StalledError(`no 200 and no 429 for ${Math.round(silentMs / 1000)} s`));
    },
  };
}

/** Value of `stopped` in the evidence if the user stopped the load. */
export const interruptedByUser = "interrupted";

/** Returns why a load was stopped, as its evidence says it; `null` if it was not. */
export function stopReason(signal: AbortSignal): string | null {
  if (!signal.aborted) return null;
  const { reason } = signal;
  return reason instanceof StalledError || reason instanceof TargetDied ? reason.message : interruptedByUser;
}
