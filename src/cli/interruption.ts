import { messageOf } from "../base/errors.ts";
import { HarnessFailure } from "../run/time/stop-signal.ts";
import { onUncaughtError, redactSecrets } from "./errors.ts";
import { handleSignal, stopOnSignal } from "./signals.ts";

export interface Interruption {
  /** Aborts when the user ends the command, or with a {@link HarnessFailure} after an uncaught error. */
  readonly signal: AbortSignal;
  readonly isInterrupted: () => boolean;
  readonly hasFailed: () => boolean;
  /** Acts like SIGINT. Dialogs call it on Ctrl-C, because Node sends no signal while a question is open. */
  readonly interrupt: () => void;
}

/** Runs an action. A process signal, such as SIGINT, or an uncaught error aborts the action's `AbortSignal`. */
export async function untilInterrupted<T>(act: (interruption: Interruption) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const stopCatching = onUncaughtError((error) => {
    controller.abort(new HarnessFailure(redactSecrets(messageOf(error))));
  });
  const hasFailed = (): boolean => signal.reason instanceof HarnessFailure;
  const release = stopOnSignal(controller);
  try {
    return await act({
      signal,
      hasFailed,
      isInterrupted: () => signal.aborted && !hasFailed(),
      interrupt: handleSignal,
    });
  } finally {
    release();
    stopCatching();
  }
}
