import { messageOf } from "../base/errors.ts";
import { HarnessFailure } from "../run/time/stop-signal.ts";
import { endOnFailure, redactSecrets } from "./harness-errors.ts";

export interface Interruption {
  /** Aborts when the user ends the command, and with {@link HarnessFailure} after an error that nothing caught. */
  readonly signal: AbortSignal;
  /** Whether the harness itself failed. */
  readonly hasFailed: () => boolean;
  /** Does what SIGINT does: for a Ctrl-C that arrives as a key while a question is open. */
  readonly interrupt: () => void;
}

/**
 * Runs an action that can be ended early: by the first SIGINT, SIGTERM or SIGHUP, or by an uncaught error of the harness. The action
 * then still reports its results. A second signal ends the process.
 */
export async function untilInterrupted<T>(act: (interruption: Interruption) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let firstMs = 0;
  const interrupt = (): void => {
    const nowMs = performance.now();
    if (!controller.signal.aborted) {
      firstMs = nowMs;
      controller.abort();
      return;
    }
    // One key press can arrive twice: from the terminal, and forwarded by the launcher.
    if (nowMs - firstMs > repeatMs) process.exit(130);
  };
  const fail = (error: unknown): void => {
    controller.abort(new HarnessFailure(redactSecrets(messageOf(error))));
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const each of signals) process.on(each, interrupt);
  const stopCatching = endOnFailure(fail);
  try {
    return await act({
      signal: controller.signal,
      hasFailed: () => controller.signal.reason instanceof HarnessFailure,
      interrupt,
    });
  } finally {
    for (const each of signals) process.off(each, interrupt);
    stopCatching();
  }
}

const repeatMs = 500;
