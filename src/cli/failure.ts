import { traceOf } from "../base/errors.ts";
import type { Redact } from "../evidence/redaction.ts";
import { HarnessFailed } from "../run/ending.ts";

/** Something that failed while a run was under way, and that nothing waited for. */
export interface FailureWatch {
  /** Aborts with {@link HarnessFailed}. */
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/** Ends the run where the process would otherwise have ended without a report, and says what happened. */
export function onFailure(redact: Redact): FailureWatch {
  const controller = new AbortController();
  const stop = (error: unknown): void => {
    process.stderr.write(`${redact(traceOf(error))}\n`);
    controller.abort(new HarnessFailed(redact(error instanceof Error ? error.message : String(error))));
  };
  process.on("uncaughtException", stop);
  return { signal: controller.signal, release: () => void process.off("uncaughtException", stop) };
}

/** The same error, its texts without secrets: a trace may quote what a target said. */
export function withoutSecrets(error: unknown, redact: Redact): unknown {
  if (!(error instanceof Error)) return typeof error === "string" ? redact(error) : error;
  error.message = redact(error.message);
  if (error.stack !== undefined) error.stack = redact(error.stack);
  return error;
}
