import { setImmediate } from "node:timers/promises";

/**
 * Waits until Node has handled a signal that arrived while code blocked the event loop. Node needs two turns for that.
 */
export async function handlePendingSignals(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
