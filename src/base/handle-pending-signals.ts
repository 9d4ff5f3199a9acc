import { setImmediate } from "node:timers/promises";

/**
 * Lets Node handle a signal that arrived while the event loop was blocked. Node needs two turns of the loop to call the
 * handler.
 */
export async function handlePendingSignals(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
