import { setImmediate } from "node:timers/promises";

/** Waits the two event-loop turns that Node needs to handle a signal that arrived while code was running. */
export async function handlePendingSignals(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
