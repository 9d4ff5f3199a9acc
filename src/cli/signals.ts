import { once } from "node:events";

import { letSignalsIn } from "../base/let-signals-in.ts";
import { exitCodes } from "./exit-codes.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The state of the running command, as far as signals need it. */
interface SignalState {
  /** Time of the first signal; `null` before. */
  firstMs: number | null;
  /** Whether results are being written. The first signal does not stop this. */
  isWriting: boolean;
  readonly actions: Set<AbortController>;
}

let state: SignalState = newState();

function newState(): SignalState {
  return { firstMs: null, isWriting: false, actions: new Set() };
}

const repeatMs = 500;

/**
 * Handles SIGINT, SIGTERM and SIGHUP. The first signal stops the running actions, but lets results be written. If
 * nothing runs and no result is being written, the first signal ends the process. A second signal always ends the
 * process.
 */
export function interrupt(): void {
  const nowMs = performance.now();
  if (state.firstMs === null) {
    state.firstMs = nowMs;
    if (state.actions.size === 0 && !state.isWriting) process.exit(exitCodes.interrupted);
    for (const controller of state.actions) controller.abort();
    return;
  }
  // One key press can cause two signals: one from the terminal, and one that the launcher forwards.
  if (nowMs - state.firstMs > repeatMs) process.exit(exitCodes.interrupted);
}

/** Handles signals during a whole command, from its first request to its last file. */
export async function withSignals<T>(act: () => Promise<T>): Promise<T> {
  state = newState();
  for (const each of signals) process.on(each, interrupt);
  try {
    return await act();
  } finally {
    for (const each of signals) process.off(each, interrupt);
  }
}

/**
 * Writes the results of a command. A first signal does not stop the writing.
 *
 * @returns the exit code of the command
 */
export async function writeResults(write: () => number | Promise<number>): Promise<number> {
  state.isWriting = true;
  const wasInterrupted = state.firstMs !== null;
  const code = await write();
  await letSignalsIn();
  return !wasInterrupted && state.firstMs !== null ? exitCodes.interrupted : code;
}

/**
 * Aborts an action at the first signal, or at once if there was one already. Returns a function that removes the
 * action.
 */
export function stopOnSignal(controller: AbortController): () => void {
  if (state.firstMs !== null) controller.abort();
  state.actions.add(controller);
  return () => void state.actions.delete(controller);
}

/** Waits for the first signal. While this function waits, the signal does not end the process. */
export async function firstSignal(): Promise<void> {
  const controller = new AbortController();
  stopOnSignal(controller);
  if (!controller.signal.aborted) await once(controller.signal, "abort");
}
