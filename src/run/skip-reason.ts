import type { RunBounds } from "./plan/bounds.ts";
import { formatDuration } from "../base/duration.ts";
import type { Need } from "./plan/needs.ts";

/** A setting that the user could change. Each entry point (command line, library) has its own name for it. */
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

/**
 * A way to enable a skipped check: a need of a probe, a setting, or any one of several. A string is used if the
 * command line and the library use the same name, such as a line of the target file.
 */
export type Enabler =
  | string
  | { readonly need: Need | Setting }
  | { readonly anyOf: readonly [Enabler, Enabler, ...Enabler[]] };

/**
 * Why something was skipped. A string must not contain the name of a setting, because the command line and the library
 * use different names.
 */
export type SkipCause =
  | string
  /** A wait of `ms` is longer than the waiting time that the run has left. */
  | { readonly why: "too long a wait"; readonly for: string; readonly ms: number; readonly leftMs: number }
  /** `takes` is part of a sentence, such as "it needs up to 60 s of waiting". */
  | { readonly why: "no time left"; readonly takes: string }
  /** `consequence` and `purpose` are parts of a sentence: "CONSEQUENCE: there is no time to PURPOSE". */
  | { readonly why: "no time left to"; readonly consequence: string; readonly purpose: string }
  | { readonly why: "requests used up"; readonly most: number }
  | { readonly why: "executions used up"; readonly most: number }
  /** Windows of more than `maxWindow` requests are used up only if the user asks for it. */
  | { readonly why: "large window"; readonly requests: number }
  | { readonly why: "too many requests"; readonly requests: number; readonly left: number }
  | { readonly why: "too many executions"; readonly executions: number; readonly left: number }
  /** The number of requests is not known beforehand. */
  | { readonly why: "requests without a bound" }
  | { readonly why: "read only" }
  | AgentWithoutPath
  | { readonly why: "nothing judged"; readonly because: SkipCause };

/** The reason that no URL path can contain the id of the agent that the user named. */
export interface AgentWithoutPath {
  readonly why: "agent without a path";
  readonly agent: string;
}

/**
 * Why something was skipped, and what would enable it. `needs` is `null` if nothing would, or if the text of the reason
 * already says it.
 */
export interface SkipReason {
  readonly reason: SkipCause;
  readonly needs: Enabler | null;
}

/** A skip reason as text, as reports and evidence contain it. */
export interface SkipText {
  readonly reason: string;
  readonly needs: string | null;
}

/** Turns skip causes and enablers into text for the command line, or for the library. */
export interface Messages {
  readonly reason: (reason: SkipCause) => string;
  readonly needs: (enabler: Enabler) => string;
}

export const need = (what: Need | Setting): Enabler => ({ need: what });

export const anyOf = (...enablers: [Enabler, Enabler, ...Enabler[]]): Enabler => ({ anyOf: enablers });

/** A check is enabled by stating the tier of the key. */
export const tierOfKey = anyOf("`tier` of a key in the target file", need("tier"));

/** A check is enabled by more waiting time, or by a test clock. */
export const moreTime = anyOf(need("maxWaitMs"), need("clock"));

export const describeSkip = ({ reason, needs }: SkipReason, messages: Messages): SkipText => ({
  reason: messages.reason(reason),
  needs: needs === null ? null : messages.needs(needs),
});

/** The reason to skip everything except GET requests in a read-only run. */
export const readOnlySkip: SkipReason = { reason: { why: "read only" }, needs: need("readOnly") };

/** Thrown if the run must not or cannot do something. The probe in which it is thrown is skipped. */
export class SkipError extends Error {
  override readonly name: string = "SkipError";
  readonly skipReason: SkipReason;

  constructor(reason: SkipCause, needs: Enabler | null = null) {
    super(typeof reason === "string" ? reason : reason.why);
    this.skipReason = { reason, needs };
  }
}

/**
 * Thrown if a wait is longer than the waiting time that the run has left, or if the target's test clock cannot be
 * advanced.
 */
export class WaitRefused extends SkipError {
  override readonly name = "WaitRefused";
}

/** Thrown when the run has sent `maxRequests` requests. */
export class RequestBudgetExhausted extends SkipError {
  override readonly name = "RequestBudgetExhausted";
}

/** Thrown when the run has caused `maxExecutions` agent executions. Requests that run no agent can still be sent. */
export class ExecutionBudgetExhausted extends SkipError {
  override readonly name = "ExecutionBudgetExhausted";
}

/** Whether an error says that the requests or the waiting time are used up. Probes handle this error themselves. */
export const isBudgetExhausted = (error: unknown): error is RequestBudgetExhausted | WaitRefused =>
  error instanceof RequestBudgetExhausted || error instanceof WaitRefused;

/** Thrown when the target no longer responds, so that the run must stop. */
export class TargetUnavailable extends SkipError {
  override readonly name = "TargetUnavailable";
}

/** Thrown when the target went away during work that depends on its state. That work has to be done again. */
export class TargetLost extends SkipError {
  override readonly name = "TargetLost";

  constructor() {
    super("the target was lost");
  }
}

/** Thrown for a path that the URL standard would change, so that no client can send it unchanged. */
export class UnsendablePath extends SkipError {
  override readonly name = "UnsendablePath";
}

/** Thrown when the run has lasted `maxTimeMs`. */
export class RunTimeout extends SkipError {
  override readonly name = "RunTimeout";

  constructor(maxMs: number) {
    super(`it was not over after ${formatDuration(maxMs)}`, need("maxTimeMs"));
  }
}
