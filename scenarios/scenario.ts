// This folder must not import from src, because k6 runs it. In src, only src/load/scenarios.ts imports it.

export type EngineName = "k6" | "autocannon";

/** The limits of a tier, as in src/spec/tiers.ts; `null` where the document publishes none. */
export interface ScenarioLimits {
  readonly perHour: number;
  readonly perMinute: number;
  readonly concurrent: number;
  readonly burst: number | null;
  readonly tokensPerMonth: number | null;
}

/** A choice of tiers: by name, or by a property. src/load/scenarios.ts finds the tiers with the property. */
export type ScenarioTiers =
  | "all"
  | "published"
  /** The tiers with a published burst, and `enterprise`, whose limits the parties have agreed. */
  | "with burst"
  | readonly ("free" | "pro" | "enterprise")[];

/** Something that a scenario needs, apart from a key and an agent that answers. */
export type ScenarioNeed =
  | "agents.slow"
  | "agents.slowStreaming"
  | "agents.failing"
  | "keys.second"
  /** The harness runs a server to which the target can deliver webhooks. */
  | "receiver";

/** The traffic of a load test for one tier, and the clauses by which its evidence is judged. */
export interface Scenario {
  /** The name of the scenario, which is also the name of its file. */
  readonly name: string;
  /** The behaviour that the target must show, in one line. */
  readonly title: string;
  /** The traffic in one line, for the table in scenarios/README.md. */
  readonly sends: string;
  /** Ids of the clauses by which the evidence is judged. */
  readonly claims: readonly string[];
  /** The requirement set in which the scenario's findings first count. Default: the set of each clause. */
  readonly since?: "1.0" | "1.1" | "1.2";
  /** Tiers on which the scenario runs, one after the other, with fresh keys if the target can create some. */
  readonly tiers: ScenarioTiers;
  /** Engines that can send this traffic. The first one is the default. */
  readonly engines: readonly EngineName[];
  /** Limits of the embedded server's `enterprise` tier for this scenario; `null` for the usual ones. */
  readonly enterpriseLimits: ScenarioLimits | null;
  readonly needs: readonly ScenarioNeed[];
  /** Returns the traffic, in times of the target's clock. Each flow needs a name of its own. */
  flows(limits: ScenarioLimits): readonly Flow[];
  /** Returns the speed of the embedded server's clock, as a multiple of real time. */
  speed(limits: ScenarioLimits): number;
  /** Returns the approximate duration, in seconds of the target's clock. */
  seconds(limits: ScenarioLimits): number;
  /** Returns how many requests the target must admit. Only a k6 script that a user starts directly needs this. */
  admitted(plan: AdmissionPlan): AdmittedByFlow;
}

/** Requests of one kind in one traffic shape. All times are those of the target's clock. */
export interface Flow {
  /** The name, in lower-case letters, digits and `-`. */
  readonly name: string;
  readonly key: KeyRole;
  readonly operation: Operation;
  readonly shape: TrafficShape;
  /** Start of the flow, in seconds after the start of the load. */
  readonly afterSeconds: number;
  /** Milliseconds after which the client of each request disconnects; `null` if it reads the whole response. */
  readonly leaveAfterMs: number | null;
}

/** The keys of a scenario. Both have the same tier. */
export type KeyRole = "main" | "second";

export interface Operation {
  /** The endpoint to call. `usage` and `list` do not use `agent`. */
  readonly kind: "invoke" | "stream" | "health" | "usage" | "list";
  readonly agent: AgentRole;
}

export type AgentRole = "answering" | "streaming" | "slow" | "slowStreaming" | "failing";

export type TrafficShape =
  /** Sends all requests at the same time, so that all are in flight together. */
  | { readonly kind: "at once"; readonly requests: number }
  /** Sends sequential requests on one connection. */
  | { readonly kind: "in turn"; readonly requests: number }
  /** Sends a number of requests over `atOnce` connections, each with one request at a time. */
  | { readonly kind: "shared"; readonly atOnce: number; readonly requests: number }
  /** Sends requests for some seconds over `atOnce` connections, each with one request at a time. */
  | { readonly kind: "closed"; readonly atOnce: number; readonly seconds: number }
  /** Sends requests at a constant rate that does not depend on responses. Only k6 can do so. */
  | { readonly kind: "paced"; readonly perSecond: number; readonly seconds: number }
  /** In each round, sends requests until one is refused, and retries after `retry_after`, sometimes also before. */
  | { readonly kind: "after refusal"; readonly rounds: number };

/** Converts the times of a flow from the target's clock, which runs `speed` times as fast, to the client's. */
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

/** Minimum `retry_after` for early retries. `minEarlySeconds` in src/load/judge must have the same value. */
const minEarlySeconds = 4;
/** When to retry early, as fractions of `retry_after`. */
const earlyRetryShares = [1 / 3, 0.7] as const;

/**
 * Returns when to retry early, in seconds after the refusal. Even rounds have no early retry, because its refusal may
 * postpone the admission.
 */
export function earlyRetrySeconds(retryAfterSeconds: number, round: number): readonly number[] {
  if (round % 2 === 0 || retryAfterSeconds < minEarlySeconds) return [];
  return earlyRetryShares.map((share) => share * retryAfterSeconds);
}

/** Returns when to retry late, in seconds after the refusal. Adds a second, because a server may round down. */
export const lateRetrySeconds = (retryAfterSeconds: number): number => retryAfterSeconds + 1;

/** Returns how many requests a flow sends; `null` if that depends on the responses. */
export function requestCount({ shape }: Flow): number | null {
  if ("requests" in shape) return shape.requests;
  return shape.kind === "paced" ? Math.round(shape.perSecond * shape.seconds) : null;
}

/** The minimum and maximum number of admitted requests. */
export interface AdmittedBounds {
  readonly min: number;
  readonly max: number;
}

/** Bounds for the number of admitted requests, by the flow's name. A flow without an entry has no bounds. */
export type AdmittedByFlow = Readonly<Record<string, AdmittedBounds>>;

/** Facts from which a scenario computes its {@link AdmittedByFlow}. */
export interface AdmissionPlan {
  readonly limits: ScenarioLimits;
  readonly flows: readonly Flow[];
  /** How many requests of a fresh key a minute admits. With `-e BURST_ADDS=true`, the burst comes on top. */
  readonly minute: AdmittedBounds;
}

export function admissionPlan(flows: readonly Flow[], limits: ScenarioLimits, burstAdds: boolean): AdmissionPlan {
  const { perMinute, burst } = limits;
  return { flows, limits, minute: { min: perMinute, max: perMinute + (burstAdds ? (burst ?? perMinute) : 0) } };
}

export const exactly = (count: number): AdmittedBounds => ({ min: count, max: count });

/** Returns bounds for each flow whose name starts with `prefix`: all requests of the flow must be admitted. */
export const allAdmitted = (plan: AdmissionPlan, prefix = ""): AdmittedByFlow =>
  Object.fromEntries(flowsNamed(plan, prefix).map((flow) => [flow.name, boundsOfWholeFlow(flow)]));

/** Returns the same bounds for each flow whose name starts with `prefix`. */
export const eachAdmitted = (plan: AdmissionPlan, prefix: string, bounds: AdmittedBounds): AdmittedByFlow =>
  Object.fromEntries(flowsNamed(plan, prefix).map(({ name }) => [name, bounds]));

function flowsNamed({ flows }: AdmissionPlan, prefix: string): readonly Flow[] {
  const found = flows.filter(({ name }) => name.startsWith(prefix));
  if (found.length === 0) throw new Error(`No flow's name starts with "${prefix}".`);
  return found;
}

function boundsOfWholeFlow(flow: Flow): AdmittedBounds {
  const requests = requestCount(flow);
  return requests === null ? { min: 1, max: Number.MAX_SAFE_INTEGER } : exactly(requests);
}
