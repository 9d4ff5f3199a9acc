import { setImmediate } from "node:timers/promises";

/**
 * Waits until Node has handled a signal that arrived while the event loop was blocked. Node calls the handler within
 * two turns of the loop.
 */
export async function handlePendingSignals(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
