import { messageOf } from "../base/errors.ts";
import { HarnessFailure } from "../run/time/stop-signal.ts";
import { endOnFailure, redactSecrets } from "./harness-errors.ts";

export interface Interruption {
  /** Aborts where a person ends the command, and with {@link HarnessFailure} where something failed that nothing waited for. */
  readonly signal: AbortSignal;
  /** Whether it was the harness that failed. */
  readonly hasFailed: () => boolean;
  /** What a signal does: for a Ctrl-C that reaches us as a key, while a question is asked. */
  readonly interrupt: () => void;
  readonly release: () => void;
}

/**
 * What ends a command early, with a report of what it has by then: the first SIGINT, SIGTERM, or SIGHUP of a terminal that closes (a later one
 * ends the process), and a failure of the harness that nothing waits for, which is told at once.
 */
export function onInterruption(): Interruption {
  const controller = new AbortController();
  let firstMs = 0;
  const stop = (): void => {
    const nowMs = performance.now();
    if (!controller.signal.aborted) {
      firstMs = nowMs;
      controller.abort();
      return;
    }
    // One key press can reach us twice: from the terminal, and forwarded by the launcher.
    if (nowMs - firstMs > repeatMs) process.exit(130);
  };
  const fail = (error: unknown): void => {
    controller.abort(new HarnessFailure(redactSecrets(messageOf(error))));
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const each of signals) process.on(each, stop);
  const takeBack = endOnFailure(fail);
  return {
    signal: controller.signal,
    hasFailed: () => controller.signal.reason instanceof HarnessFailure,
    interrupt: stop,
    release: () => {
      for (const each of signals) process.off(each, stop);
      takeBack();
    },
  };
}

const repeatMs = 500;
