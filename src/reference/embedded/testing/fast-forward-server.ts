import { type Patch, type Reference, startReference, virtualClock } from "../../reference.ts";

/** A reference server whose clock runs as the machine's does, and in which a run's waiting costs no real time. */
export interface FastForwardServer {
  readonly reference: Reference;
  /** What a run takes for real time: it agrees with the server's clock. */
  readonly timers: { readonly now: () => number; readonly sleep: (ms: number) => Promise<void> };
  /** Requests that the server has refused with 429 so far. */
  readonly countRefused: () => number;
  readonly close: () => Promise<void>;
}

const tickMs = 4;
/** A run's wait is so many leaps, each of so many milliseconds, so that what comes meanwhile comes at its time. */
const leapMs = 1000;

/** @param patches what the server does otherwise than the standard one */
export async function startFastForwardServer(patches: readonly Patch[] = []): Promise<FastForwardServer> {
  let refused = 0;
  const reference = await startReference({
    clock: virtualClock(),
    patches,
    onRequest: ({ status }) => {
      if (status === 429) refused += 1;
    },
  });
  let leapedMs = 0;
  let shownMs = performance.now();
  let moving: Promise<void> = Promise.resolve();
  const leap = async (ms: number): Promise<void> => {
    const now = performance.now();
    // What the server sends by this leap arrives within it.
    leapedMs += ms;
    await reference.advance(now - shownMs + ms);
    shownMs = now;
  };
  const move = (ms: number): Promise<void> => {
    moving = moving.then(async () => {
      let leftMs = ms;
      for (; leftMs > leapMs; leftMs -= leapMs) await leap(leapMs);
      await leap(leftMs);
    });
    return moving;
  };
  const ticking = setInterval(() => void move(0), tickMs);
  return {
    reference,
    timers: { now: () => performance.now() + leapedMs, sleep: (ms) => move(ms) },
    countRefused: () => refused,
    close: async () => {
      clearInterval(ticking);
      await moving;
      await reference.close();
    },
  };
}
