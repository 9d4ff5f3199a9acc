import type { RunBounds } from "./plan/bounds.ts";
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
 * What would enable something: a need of a probe, a setting, any one of several. A text is of what has one name for everybody, such as a
 * line of the target file.
 */
export type Enabler =
  | string
  | { readonly need: Need | Setting }
  | { readonly anyOf: readonly [Enabler, Enabler, ...Enabler[]] };

/** Why something was not done. A text names no setting; what does is data. */
export type SkipCause =
  | string
  /** A wait of `ms` does not fit what is left of the real waiting that a run may do. */
  | { readonly why: "too long a wait"; readonly for: string; readonly ms: number; readonly leftMs: number }
  /** `takes` is a clause: "it needs up to 60 s of waiting". */
  | { readonly why: "no time left"; readonly takes: string }
  /** `so` is a clause, and `to` a verb. */
  | { readonly why: "no time left to"; readonly so: string; readonly to: string }
  | { readonly why: "requests used up"; readonly most: number }
  | { readonly why: "executions used up"; readonly most: number }
  /** A window of so many requests is used up only where somebody asks for it. */
  | { readonly why: "large window"; readonly requests: number }
  | { readonly why: "too many requests"; readonly requests: number; readonly left: number }
  /** Nobody can tell beforehand how many requests there will be. */
  | { readonly why: "requests without a bound" }
  | { readonly why: "read only" }
  | AgentWithoutPath
  | { readonly why: "nothing judged"; readonly because: SkipCause };

/** No request can name the agent that was named. */
export interface AgentWithoutPath {
  readonly why: "agent without a path";
  readonly agent: string;
}

/** Why something was not done, and what would enable it: `null` where nothing would, or the reason says it. */
export interface SkipReason {
  readonly reason: SkipCause;
  readonly needs: Enabler | null;
}

/** A lack in the words of a way in, as reports and evidence keep it. */
export interface SkipText {
  readonly reason: string;
  readonly needs: string | null;
}

/** How a way in says what the core knows as data. */
export interface Messages {
  readonly reason: (reason: SkipCause) => string;
  readonly needs: (enabler: Enabler) => string;
}

export const need = (what: Need | Setting): Enabler => ({ need: what });

export const anyOf = (...enablers: [Enabler, Enabler, ...Enabler[]]): Enabler => ({ anyOf: enablers });

/** Somebody says what tier a key is of. */
export const tierOfKey = anyOf("`tier` of a key in the target file", need("tier"));

/** For the target: more real time, or time that is moved. */
export const moreTime = anyOf(need("maxWaitMs"), need("clock"));

export const describeSkip = ({ reason, needs }: SkipReason, messages: Messages): SkipText => ({
  reason: messages.reason(reason),
  needs: needs === null ? null : messages.needs(needs),
});

/** Something that a run may not do, by the bounds that it was given, or cannot. What rests on it is skipped. */
export class SkipError extends Error {
  override readonly name: string = "Refused";
  readonly skipReason: SkipReason;

  constructor(reason: SkipCause, needs: Enabler | null = null) {
    super(typeof reason === "string" ? reason : reason.why);
    this.skipReason = { reason, needs };
  }
}
