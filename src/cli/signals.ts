import { once } from "node:events";

import { exitCodes, handlePendingSignals } from "../base/process-end.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface SignalState {
  firstMs: number | null;
  /** Whether the command is writing its results. The first signal does not interrupt the writing. */
  isWriting: boolean;
  readonly actions: Set<AbortController>;
}

let state: SignalState = newState();

function newState(): SignalState {
  return { firstMs: null, isWriting: false, actions: new Set() };
}

const sameSignalMs = 500;

/**
 * Handles a signal such as SIGINT. The first signal aborts the running actions. If there are none, and no results are
 * being written, the signal ends the process. A second signal ends it too, if more than 0.5 s later.
 */
export function handleSignal(): void {
  const nowMs = performance.now();
  if (state.firstMs === null) {
    state.firstMs = nowMs;
    if (state.actions.size === 0 && !state.isWriting) process.exit(exitCodes.interrupted);
    for (const controller of state.actions) controller.abort();
    return;
  }
  // Signals in quick succession count as one: a Ctrl-C may come from the terminal and the parent process.
  if (nowMs - state.firstMs > sameSignalMs) process.exit(exitCodes.interrupted);
}

export async function withSignals<T>(act: () => Promise<T>): Promise<T> {
  state = newState();
  for (const each of signals) process.on(each, handleSignal);
  try {
    return await act();
  } finally {
    for (const each of signals) process.off(each, handleSignal);
  }
}

/**
 * Calls `write`, which writes a command's results, and resolves to the exit code. A first signal during the
 * writing does not interrupt it, but changes the exit code to 130.
 */
export async function writeResults(write: () => number | Promise<number>): Promise<number> {
  state.isWriting = true;
  const wasInterrupted = state.firstMs !== null;
  const code = await write();
  await handlePendingSignals();
  return !wasInterrupted && state.firstMs !== null ? exitCodes.interrupted : code;
}

/**
 * Aborts the controller when a signal arrives or has already arrived. Returns a function that unsubscribes the
 * controller.
 */
export function stopOnSignal(controller: AbortController): () => void {
  if (state.firstMs !== null) controller.abort();
  state.actions.add(controller);
  return () => void state.actions.delete(controller);
}

/** Waits for a signal such as SIGINT. The first signal ends only the wait, not the process. */
export async function waitForSignal(): Promise<void> {
  const controller = new AbortController();
  stopOnSignal(controller);
  if (!controller.signal.aborted) await once(controller.signal, "abort");
}
