// Scenarios are data and arithmetic. They import nothing from src, so that k6 can run them; in src, only src/load/scenarios.ts reads them.

export type EngineName = "k6" | "autocannon";

/** The numbers of a tier, as src/spec/tiers.ts has them; `null` where the document publishes none. */
export interface ScenarioLimits {
  readonly perHour: number;
  readonly perMinute: number;
  readonly concurrent: number;
  readonly burst: number | null;
  readonly tokensPerMonth: number | null;
}

/** Tiers by property or by name; src/load/scenarios.ts looks them up. The custom tier is `enterprise`. */
export type ScenarioTiers =
  | "all"
  | "published"
  /** Tiers with a published burst, and the custom tier, whose burst is agreed. */
  | "with burst"
  | readonly ("free" | "pro" | "enterprise")[];

/** A requirement of a scenario, beyond a key and an agent that answers. */
export type ScenarioNeed =
  | "agents.slow"
  | "agents.slowStreaming"
  | "agents.failing"
  | "keys.second"
  /** A receiver that the target can deliver webhooks to. */
  | "receiver";

/** Traffic that tests the limits of one tier, and the clauses that its evidence is judged by. */
export interface Scenario {
  /** The name, which is also the file's. */
  readonly name: string;
  /** The behaviour that must hold, in one line. */
  readonly title: string;
  /** The traffic in one line, for the table in README.md. */
  readonly sends: string;
  /** Ids of clauses that the evidence is judged by. */
  readonly claims: readonly string[];
  /** The requirement set in which its findings first count, as src/spec/requirements.ts names it. Default: the set of each clause. */
  readonly since?: "1.0" | "1.1";
  /** Each tier is an instance of its own, with fresh keys if the target can make some. */
  readonly tiers: ScenarioTiers;
  /** Engines that can send this traffic. The first one is the default. */
  readonly engines: readonly EngineName[];
  /** Limits of the embedded server's `enterprise` tier under this scenario; `null` for its usual ones. */
  readonly enterpriseLimits: ScenarioLimits | null;
  readonly needs: readonly ScenarioNeed[];
  /** The traffic for these limits, in the target's time (see {@link atSpeed}). Each flow has its own name. */
  flows(limits: ScenarioLimits): readonly Flow[];
  /** How many times as fast as real time the embedded server's clock runs. Any other target has 1. */
  speed(limits: ScenarioLimits): number;
  /** Approximate duration in seconds of the target's time. */
  seconds(limits: ScenarioLimits): number;
  /** How many requests the target must admit, for a k6 script that is started by hand. */
  admitted(plan: AdmissionPlan): AdmittedByFlow;
}

/** Requests of one kind in one traffic shape. All times are the target's. */
export interface Flow {
  /** Lower-case letters, digits and `-`. */
  readonly name: string;
  readonly key: KeyRole;
  readonly operation: Operation;
  readonly shape: TrafficShape;
  /** Start, in seconds after the first flow. */
  readonly afterSeconds: number;
  /** The client disconnects this long after it sent a request; `null`: it reads the whole response. */
  readonly leaveAfterMs: number | null;
}

/** `second` belongs to the same tier as `main`. */
export type KeyRole = "main" | "second";

export interface Operation {
  /** `usage` and `list` ignore the agent. */
  readonly kind: "invoke" | "stream" | "health" | "usage" | "list";
  readonly agent: AgentRole;
}

export type AgentRole = "answering" | "streaming" | "slow" | "slowStreaming" | "failing";

export type TrafficShape =
  /** All requests are in flight together. */
  | { readonly kind: "at once"; readonly requests: number }
  /** Sequential requests on one connection. */
  | { readonly kind: "in turn"; readonly requests: number }
  /** An exact number of requests, shared by `atOnce` connections that send as fast as they can. */
  | { readonly kind: "shared"; readonly atOnce: number; readonly requests: number }
  /** A closed loop: each of `atOnce` connections sends its next request when the last response has arrived. */
  | { readonly kind: "closed"; readonly atOnce: number; readonly seconds: number }
  /** A constant rate that does not depend on responses. Only k6 can send it. */
  | { readonly kind: "paced"; readonly perSecond: number; readonly seconds: number }
  /**
   * In each round: sequential requests until one is refused, then one more once `retry_after` has passed. That last request waits another
   * 100 ms of real time and the rounding of whole seconds. Every second round also retries early: see {@link earlyRetrySeconds}.
   */
  | { readonly kind: "after refusal"; readonly rounds: number };

/** The flow in the client's time, if the target's clock runs `speed` times as fast as the client's. */
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

/** A shorter `retry_after` gets no early retry: rounding may account for the difference. The judge has the same bound, `minEarlySeconds`. */
const minEarlySeconds = 4;
/** Early retries, as shares of `retry_after`. The second one detects a `retry_after` that is 1.5 times too long. */
const earlyRetryShares = [1 / 3, 0.7] as const;

/**
 * When an "after refusal" flow retries early, in seconds after the refusal. Only rounds 1, 3, 5, … (counted from 0) do.
 * The refusal of an early retry may postpone admission, which would hide a `retry_after` that is too short.
 */
export function earlyRetrySeconds(retryAfterSeconds: number, round: number): readonly number[] {
  if (round % 2 === 0 || retryAfterSeconds < minEarlySeconds) return [];
  return earlyRetryShares.map((share) => share * retryAfterSeconds);
}

/** When the flow retries after `retry_after`, in seconds after the refusal. One second more: a server may round down. */
export const lateRetrySeconds = (retryAfterSeconds: number): number => retryAfterSeconds + 1;

/** How many requests a flow sends; `null` if that depends on the responses. */
export function requestCount({ shape }: Flow): number | null {
  if ("requests" in shape) return shape.requests;
  return shape.kind === "paced" ? Math.round(shape.perSecond * shape.seconds) : null;
}

/** Least and greatest number of requests that must be admitted. */
export interface AdmittedBounds {
  readonly min: number;
  readonly max: number;
}

/** Bounds by flow name. A flow without bounds may have any number of its requests admitted. */
export type AdmittedByFlow = Readonly<Record<string, AdmittedBounds>>;

/** The input from which a scenario computes its {@link AdmittedByFlow}. */
export interface AdmissionPlan {
  readonly limits: ScenarioLimits;
  readonly flows: readonly Flow[];
  /**
   * Bounds of the requests that a fresh key gets within a minute. The document does not say whether the burst allowance is part of the minute's limit
   * or comes on top. It is a part by default, and on top with `-e BURST_ADDS=true`.
   */
  readonly minute: AdmittedBounds;
}

export function admissionPlan(flows: readonly Flow[], limits: ScenarioLimits, burstAdds: boolean): AdmissionPlan {
  const { perMinute, burst } = limits;
  return { flows, limits, minute: { min: perMinute, max: perMinute + (burstAdds ? (burst ?? perMinute) : 0) } };
}

export const exactly = (count: number): AdmittedBounds => ({ min: count, max: count });

/** Requires that every request is admitted, in each flow whose name starts with `prefix`. */
export const allAdmitted = (plan: AdmissionPlan, prefix = ""): AdmittedByFlow =>
  Object.fromEntries(flowsNamed(plan, prefix).map((flow) => [flow.name, boundsOfWholeFlow(flow)]));

/** Sets the same bounds for each flow whose name starts with `prefix`. */
export const eachAdmitted = (plan: AdmissionPlan, prefix: string, bounds: AdmittedBounds): AdmittedByFlow =>
  Object.fromEntries(flowsNamed(plan, prefix).map(({ name }) => [name, bounds]));

function flowsNamed({ flows }: AdmissionPlan, prefix: string): readonly Flow[] {
  const found = flows.filter(({ name }) => name.startsWith(prefix));
  if (found.length === 0) throw new Error(`No flow's name starts with "${prefix}".`);
  return found;
}

/** A flow of unknown size must have at least one request admitted. */
function boundsOfWholeFlow(flow: Flow): AdmittedBounds {
  const requests = requestCount(flow);
  return requests === null ? { min: 1, max: Number.MAX_SAFE_INTEGER } : exactly(requests);
}
