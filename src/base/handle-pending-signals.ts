import { setImmediate } from "node:timers/promises";

/** Waits two event-loop turns. Node needs them to handle a signal that arrived while code was running. */
export async function handlePendingSignals(): Promise<void> {
  await setImmediate();
  await setImmediate();
}
