import { setTimeout as sleep } from "node:timers/promises";

import { type Patch, type Reference, startReference, virtualClock } from "../../reference.ts";

/** A reference server whose clock runs like the machine's. A run's waiting takes no real time. */
export interface FastForwardServer {
  readonly reference: Reference;
  /** The timers for a run. They agree with the server's clock. */
  readonly timers: { readonly now: () => number; readonly sleep: (ms: number) => Promise<void> };
  /** The number of requests that the server has refused with 429. */
  readonly countRefused: () => number;
  readonly close: () => Promise<void>;
}

const tickMs = 4;
/** Step of a wait, in milliseconds. Small steps let requests that come during the wait come at their time. */
const stepMs = 1000;
/** Real time after each step. */
const restMs = 1;
/** Real time without a request after which every probe is taken to wait. */
const idleMs = 10;

/** @param patches faults and variants of the server */
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
    // A run's clock moves first, so that a delivery during the step lies within it.
    skippedMs += ms;
    await reference.advance(now - lastMs + ms);
    lastMs = now;
  };
  const move = (ms: number): Promise<void> => {
    moving = moving.then(() => advanceBy(ms));
    return moving;
  };
  const timeMs = (): number => performance.now() + skippedMs;
  /** The ends of waits that have begun. Waits overlap, as on a real clock. */
  const endsMs = new Set<number>();
  const sleepUntil = async (endMs: number): Promise<void> => {
    for (let leftMs = endMs - timeMs(); leftMs > 0; leftMs = endMs - timeMs()) {
      // Requests of other probes take real time, so that no minute passes between two of them.
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
