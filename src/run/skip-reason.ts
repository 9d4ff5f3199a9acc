import type { RunBounds } from "./plan/bounds.ts";
import { formatDuration } from "../base/duration.ts";
import type { Need } from "./plan/needs.ts";

/** Something that the user could change to enable a check, by a flag or an option of the library. */
export type Setting =
  | keyof RunBounds
  | "agent"
  | "limit within reach"
  | "receiver that is taken"
  | "receiver within reach"
  | "selection"
  | "tier"
  | "unbounded requests"
  | "watch";

/** Something that would enable a skipped check, e.g. the setting `maxWaitMs`. `anyOf` lists alternatives. */
export type Enabler =
  | string
  | { readonly need: Need | Setting }
  | { readonly anyOf: readonly [Enabler, Enabler, ...Enabler[]] };

/** Why a check or a probe was skipped. {@link Messages} adds the names of settings, e.g. a flag on the command line. */
export type SkipCause =
  | string
  | { readonly why: "too long a wait"; readonly for: string; readonly ms: number; readonly leftMs: number }
  /** `takes` is the end of a sentence, such as "it needs up to 60 s of waiting". */
  | { readonly why: "no time left"; readonly takes: string }
  /** Parts of a sentence, e.g. "the threshold was not crossed" (consequence) and "send more requests" (purpose). */
  | { readonly why: "no time left to"; readonly consequence: string; readonly purpose: string }
  | { readonly why: "requests used up"; readonly most: number }
  | { readonly why: "executions used up"; readonly most: number }
  | { readonly why: "large window"; readonly requests: number }
  | { readonly why: "too many requests"; readonly requests: number; readonly left: number }
  | { readonly why: "too many executions"; readonly executions: number; readonly left: number }
  /** A run with a request limit skips a probe that cannot predict its number of requests. */
  | { readonly why: "requests without a bound" }
  | { readonly why: "read only" }
  | { readonly why: "fast" }
  | AgentWithoutPath
  | { readonly why: "nothing judged"; readonly because: SkipCause };

/** The user named an agent whose id cannot be a segment of a URL path, e.g. `..`. */
export interface AgentWithoutPath {
  readonly why: "agent without a path";
  readonly agent: string;
}

/** Why a check or a probe was skipped, and the change that would enable it (`needs`); `null` if none is known. */
export interface SkipReason {
  readonly reason: SkipCause;
  readonly needs: Enabler | null;
}

/** The text of a skip reason in reports and evidence. */
export interface SkipText {
  readonly reason: string;
  readonly needs: string | null;
}

/** Turns skip causes into texts. The command line's texts name flags; the library's texts name options. */
export interface Messages {
  readonly reason: (reason: SkipCause) => string;
  readonly needs: (enabler: Enabler) => string;
}

export const need = (what: Need | Setting): Enabler => ({ need: what });

export const anyOf = (...enablers: [Enabler, Enabler, ...Enabler[]]): Enabler => ({ anyOf: enablers });

export const needsTierOfKey = anyOf("`tier` of a key in the target file", need("tier"));

export const needsMoreTime = anyOf(need("maxWaitMs"), need("clock"));

export const describeSkip = ({ reason, needs }: SkipReason, messages: Messages): SkipText => ({
  reason: messages.reason(reason),
  needs: needs === null ? null : messages.needs(needs),
});

export const readOnlySkip: SkipReason = { reason: { why: "read only" }, needs: need("readOnly") };

export const fastSkip: SkipReason = { reason: { why: "fast" }, needs: need("fast") };

/** Thrown to end the current probe. The run then counts the probe as skipped. */
export class SkipError extends Error {
  override readonly name: string = "SkipError";
  readonly skipReason: SkipReason;

  constructor(reason: SkipCause, needs: Enabler | null = null) {
    super(typeof reason === "string" ? reason : reason.why);
    this.skipReason = { reason, needs };
  }
}

/** Awaits the promise. If it rejects with a {@link SkipError}, or after the run was stopped, returns `instead`. */
export async function orIfSkipped<T>(promise: Promise<T>, instead: T, signal: AbortSignal): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof SkipError || signal.aborted) return instead;
    throw error;
  }
}

/** Thrown if a wait is longer than the remaining waiting time. Also thrown if the test clock cannot be advanced. */
export class WaitRefused extends SkipError {
  override readonly name = "WaitRefused";
}

export class RequestBudgetExhausted extends SkipError {
  override readonly name = "RequestBudgetExhausted";
}

/** Thrown if a request could exceed `maxExecutions`. Requests that run no agent can still be sent. */
export class ExecutionBudgetExhausted extends SkipError {
  override readonly name = "ExecutionBudgetExhausted";
}

/** Whether an error says that a bound of the run is used up: requests, agent executions or waiting time. */
export const isBudgetExhausted = (
  error: unknown,
): error is RequestBudgetExhausted | ExecutionBudgetExhausted | WaitRefused =>
  [RequestBudgetExhausted, ExecutionBudgetExhausted, WaitRefused].some((each) => error instanceof each);

export class TargetUnavailable extends SkipError {
  override readonly name = "TargetUnavailable";
}

/** Thrown to end a probe that must run again, because an outage may have erased the target's state. */
export class TargetLost extends SkipError {
  override readonly name = "TargetLost";

  constructor() {
    super("the target was lost");
  }
}

/** Thrown instead of sending a path that the URL standard would change, such as one with a segment `..`. */
export class UnsendablePath extends SkipError {
  override readonly name = "UnsendablePath";
}

/** The error that ends a run at its first broken must clause. */
export class FirstBreach extends SkipError {
  override readonly name = "FirstBreach";

  constructor(clause: string) {
    super(`the first broken must clause is ${clause}`);
  }
}

export class RunTimeout extends SkipError {
  override readonly name = "RunTimeout";

  constructor(maxMs: number) {
    super(`it was not over after ${formatDuration(maxMs)}`, need("maxTimeMs"));
  }
}
