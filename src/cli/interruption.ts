export interface Interruption {
  readonly signal: AbortSignal;
  /** What a signal does: for a Ctrl-C that reaches us as a key, while a question is asked. */
  readonly interrupt: () => void;
  readonly release: () => void;
}

/** The first SIGINT, SIGTERM, or SIGHUP of a terminal that closes, ends the run early, with a report; a later one ends the process. */
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
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const each of signals) process.on(each, stop);
  return {
    signal: controller.signal,
    interrupt: stop,
    release: () => {
      for (const each of signals) process.off(each, stop);
    },
  };
}

const repeatMs = 500;
