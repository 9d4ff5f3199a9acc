import type { RunBounds } from "./plan/bounds.ts";
import { duration } from "../base/duration.ts";
import type { Need } from "./plan/needs.ts";

/** A setting that the user could change. Each entry point (command line, library) has its own name for it. */
export type Setting =
  | keyof RunBounds
  | "agent"
  | "limit within reach"
  | "receiver that is taken"
  | "receiver within reach"
  | "tier"
  | "unbounded requests"
  | "watch";

/**
 * A way to enable a skipped check: a need of a probe, a setting, or any one of several. A string names something with
 * the same name everywhere, such as a line of the target file.
 */
export type Enabler =
  | string
  | { readonly need: Need | Setting }
  | { readonly anyOf: readonly [Enabler, Enabler, ...Enabler[]] };

/**
 * Why something was skipped. A string must not name a setting: settings have other names on the command line than in
 * the library.
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
  /** The number of requests is not known beforehand. */
  | { readonly why: "requests without a bound" }
  | { readonly why: "read only" }
  | AgentWithoutPath
  | { readonly why: "nothing judged"; readonly because: SkipCause };

/** No URL path can contain the id of the agent that the user named. */
export interface AgentWithoutPath {
  readonly why: "agent without a path";
  readonly agent: string;
}

/**
 * Why something was skipped, and what would enable it. `needs` is `null` if nothing would, or if the reason says it.
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

/** Enabled by stating the tier of the key. */
export const tierOfKey = anyOf("`tier` of a key in the target file", need("tier"));

/** Enabled by more waiting time, or by a test clock. */
export const moreTime = anyOf(need("maxWaitMs"), need("clock"));

export const describeSkip = ({ reason, needs }: SkipReason, messages: Messages): SkipText => ({
  reason: messages.reason(reason),
  needs: needs === null ? null : messages.needs(needs),
});

/** Skips everything but GET in a read-only run. */
export const readOnlySkip: SkipReason = { reason: { why: "read only" }, needs: need("readOnly") };

/** Thrown if the run must not or cannot do something. The probe that meets it is skipped. */
export class SkipError extends Error {
  override readonly name: string = "SkipError";
  readonly skipReason: SkipReason;

  constructor(reason: SkipCause, needs: Enabler | null = null) {
    super(typeof reason === "string" ? reason : reason.why);
    this.skipReason = { reason, needs };
  }
}

/** The wait is longer than the waiting time that the run has left, or the target's clock refused to advance. */
export class WaitRefused extends SkipError {
  override readonly name = "WaitRefused";
}

/** The run has sent `maxRequests` requests. */
export class RequestBudgetExhausted extends SkipError {
  override readonly name = "RequestBudgetExhausted";
}

/** The run has caused `maxExecutions` agent executions. Other requests can still be sent. */
export class ExecutionBudgetExhausted extends SkipError {
  override readonly name = "ExecutionBudgetExhausted";
}

/** Whether a budget of requests or waiting time is used up. Probes report this themselves. */
export const isBudgetExhausted = (error: unknown): error is RequestBudgetExhausted | WaitRefused =>
  error instanceof RequestBudgetExhausted || error instanceof WaitRefused;

/** The target no longer responds, so the run stops. */
export class TargetUnavailable extends SkipError {
  override readonly name = "TargetUnavailable";
}

/** The target went away during work that depends on its state. The work has to be done again. */
export class TargetLost extends SkipError {
  override readonly name = "TargetLost";

  constructor() {
    super("the target was lost");
  }
}

/** The URL standard would change the path, so no client can send it as it is. */
export class UnsendablePath extends SkipError {
  override readonly name = "UnsendablePath";
}

/** The run has used up `maxTimeMs`. */
export class RunTimeout extends SkipError {
  override readonly name = "RunTimeout";

  constructor(maxMs: number) {
    super(`it was not over after ${duration(maxMs)}`, need("maxTimeMs"));
  }
}
