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

/** @param patches faults and variants of the server */
export async function startFastForwardServer(patches: readonly Patch[] = []): Promise<FastForwardServer> {
  let refused = 0;
  const reference = await startReference({
    clock: virtualClock(),
    patches,
    onRequest: ({ status }) => {
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
    moving = moving.then(async () => {
      let leftMs = ms;
      for (; leftMs > stepMs; leftMs -= stepMs) await advanceBy(stepMs);
      await advanceBy(leftMs);
    });
    return moving;
  };
  const ticking = setInterval(() => void move(0), tickMs);
  return {
    reference,
    timers: { now: () => performance.now() + skippedMs, sleep: (ms) => move(ms) },
    countRefused: () => refused,
    close: async () => {
      clearInterval(ticking);
      await moving;
      await reference.close();
    },
  };
}
