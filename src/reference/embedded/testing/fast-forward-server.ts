import { setTimeout as sleep } from "node:timers/promises";

import { type Patch, type Reference, startReference, virtualClock } from "../../reference.ts";

/** A reference server whose clock runs at normal speed, but skips the time in which a run only waits. */
export interface FastForwardServer {
  readonly reference: Reference;
  /** The timers that a run uses. They show the same time as the server's clock. */
  readonly timers: { readonly now: () => number; readonly sleep: (ms: number) => Promise<void> };
  /** The number of requests that the server has refused with 429. */
  readonly countRefused: () => number;
  readonly close: () => Promise<void>;
}

const tickMs = 4;
/**
 * The clocks skip a wait in steps of this many milliseconds, so that requests during the wait are sent at their time.
 */
const stepMs = 1000;
/** Real milliseconds to wait after each step, in which requests and deliveries are handled. */
const restMs = 1;
/** After this many real milliseconds without a request, every probe counts as waiting. */
const idleMs = 10;

/** Starts a server with these faults and variants. */
export async function startFastForwardServer(patches: readonly Patch[] = []): Promise<FastForwardServer> {
  let refused = 0;
  let lastRequestMs = -Infinity;
  const reference = await startReference({
    clock: virtualClock(),
    patches,
    onRequest: ({ status }) => {
      lastRequestMs = performance.now();
      if (status === 429) refused += 1;
    },
  });
  let skippedMs = 0;
  let lastMs = performance.now();
  let moving: Promise<void> = Promise.resolve();
  const advanceBy = async (ms: number): Promise<void> => {
    const now = performance.now();
    // The run's clock moves before the server's, so that a delivery during the step does not seem to come from the
    // future.
    skippedMs += ms;
    await reference.advance(now - lastMs + ms);
    lastMs = now;
  };
  const move = (ms: number): Promise<void> => {
    moving = moving.then(() => advanceBy(ms));
    return moving;
  };
  const timeMs = (): number => performance.now() + skippedMs;
  /** The times at which the current waits end. Waits overlap, as on a real clock. */
  const endsMs = new Set<number>();
  const sleepUntil = async (endMs: number): Promise<void> => {
    for (let leftMs = endMs - timeMs(); leftMs > 0; leftMs = endMs - timeMs()) {
      // While other probes send requests, no time is skipped: a minute must not pass between two of their requests.
      const isIdle = performance.now() - lastRequestMs > idleMs;
      if (isIdle && endMs === Math.min(...endsMs)) await move(Math.min(leftMs, stepMs));
      await sleep(restMs);
    }
  };
  const ticking = setInterval(() => void move(0), tickMs);
  return {
    reference,
    timers: {
      now: timeMs,
      sleep: async (ms) => {
        const endMs = timeMs() + ms;
        endsMs.add(endMs);
        await sleepUntil(endMs);
        endsMs.delete(endMs);
      },
    },
    countRefused: () => refused,
    close: async () => {
      clearInterval(ticking);
      await moving;
      await reference.close();
    },
  };
}
