import { setImmediate } from "node:timers/promises";

/**
 * Lets a pending signal be handled during work that blocks the event loop. Node handles a new signal after two turns
 * of the loop.
 */
export async function letSignalsIn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
