import { setImmediate } from "node:timers/promises";

/** Waits until Node has handled a signal that arrived while the event loop was blocked, which takes two turns. */
export async function handlePendingSignals(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
