import type { TierLimits, TierName } from "../src/spec/tiers.ts";

export type EngineName = "k6" | "autocannon";

/** What a scenario asks of a target beyond one key and an agent that answers. */
export type ScenarioNeed =
  | "agents.slow"
  | "agents.slowStreaming"
  | "agents.failing"
  | "keys.second"
  /** A receiver that the target can deliver webhooks to. */
  | "receiver";

/** Load on the limits of one tier: which traffic is sent, and which clauses its evidence puts to the test. Pure data and arithmetic. */
export interface Scenario {
  /** The file's name. */
  readonly name: string;
  /** One line for people. */
  readonly title: string;
  /** Ids of clauses that the evidence is judged by. */
  readonly claims: readonly string[];
  /** Each tier is an instance of its own, with fresh keys where there are some. */
  readonly tiers: readonly TierName[];
  /** Those that can send this traffic; the first one does where nobody chooses. */
  readonly engines: readonly EngineName[];
  /** What the embedded server's `enterprise` tier is under this scenario; `null`: as it always is. */
  readonly enterpriseLimits: TierLimits | null;
  readonly needs: readonly ScenarioNeed[];
  /** The traffic for these limits, in the target's time: see {@link atSpeed}. Names are unique. */
  flows(limits: TierLimits): readonly Flow[];
  /** How many times as fast as the machine's the clock of the embedded server runs; a target of somebody else's has 1. */
  speed(limits: TierLimits): number;
  /** About how many of the target's seconds it takes. */
  seconds(limits: TierLimits): number;
}

/** Requests of one kind in one shape. All times are the target's. */
export interface Flow {
  /** Lower-case letters, digits and `-`. */
  readonly name: string;
  readonly key: KeyRole;
  readonly operation: Operation;
  readonly shape: TrafficShape;
  /** When it starts, in seconds after the first flow. */
  readonly afterSeconds: number;
  /** The client closes the connection so long after it has sent a request; `null`: it stays for the whole answer. */
  readonly leaveAfterMs: number | null;
}

/** `second` belongs to the same tier as `main`. */
export type KeyRole = "main" | "second";

export interface Operation {
  /** `usage` and `list` have no agent: theirs is ignored. */
  readonly kind: "invoke" | "stream" | "health" | "usage" | "list";
  readonly agent: "answering" | "streaming" | "slow" | "slowStreaming" | "failing";
}

export type TrafficShape =
  /** All of them are in flight together. */
  | { readonly kind: "at once"; readonly requests: number }
  /** One after another on one connection. */
  | { readonly kind: "in turn"; readonly requests: number }
  /** Exactly so many, as fast as so many connections take them. */
  | { readonly kind: "shared"; readonly atOnce: number; readonly requests: number }
  /** Each of so many connections sends its next request when the last one was answered, for so long. */
  | { readonly kind: "closed"; readonly atOnce: number; readonly seconds: number }
  /** So many a second, whether or not earlier ones were answered: only k6 can. */
  | { readonly kind: "paced"; readonly perSecond: number; readonly seconds: number }
  /**
   * `rounds` times: one after another until one is refused, then one request right after its `retry_after` has passed (100 ms of real time, and
   * what rounding to whole seconds of the target's time takes). In every second round some come well before, too: see `earlyAskSeconds`.
   */
  | { readonly kind: "after refusal"; readonly rounds: number };

/** The same flow in the time of a client whose target's clock runs `speed` times as fast as its own. */
export function atSpeed(flow: Flow, speed: number): Flow {
  return {
    ...flow,
    afterSeconds: flow.afterSeconds / speed,
    leaveAfterMs: flow.leaveAfterMs === null ? null : flow.leaveAfterMs / speed,
    shape: shapeAtSpeed(flow.shape, speed),
  };
}

function shapeAtSpeed(shape: TrafficShape, speed: number): TrafficShape {
  switch (shape.kind) {
    case "closed":
      return { ...shape, seconds: shape.seconds / speed };
    case "paced":
      return { ...shape, perSecond: shape.perSecond * speed, seconds: shape.seconds / speed };
    case "at once":
    case "in turn":
    case "shared":
    case "after refusal":
      return shape;
  }
}

/** Of a second or two, a part is too close to what rounding takes away. */
const leastEarlySeconds = 3;
/** Well before the end, and far enough in that a wait half as long again as the truth is found. */
const earlyShares = [1 / 3, 0.7] as const;

/**
 * When a flow "after refusal" asks before `retry_after` is over, in seconds after the refusal: twice in the second round, the fourth, and so on;
 * never in the others, as a refusal may push the room away, so that a `retry_after` which was too short could not be told from one that was pushed.
 */
export function earlyRetrySeconds(retryAfterSeconds: number, round: number): readonly number[] {
  if (round % 2 === 0 || retryAfterSeconds < leastEarlySeconds) return [];
  return earlyShares.map((share) => share * retryAfterSeconds);
}

/** When it asks after `retry_after`, in seconds after the refusal: the next whole second, as a server may have cut a part of one away. */
export const lateRetrySeconds = (retryAfterSeconds: number): number => retryAfterSeconds + 1;

/** How many requests a flow sends; `null` where the answers decide. */
export function requestCount({ shape }: Flow): number | null {
  if ("requests" in shape) return shape.requests;
  return shape.kind === "paced" ? Math.round(shape.perSecond * shape.seconds) : null;
}
