// The files of this folder must not import from src, because `src/load` imports them.

export type EngineName = "k6" | "autocannon";

/** The rate limits of a tier. `burst` and `tokensPerMonth` are `null` if no document or target file states them. */
export interface ScenarioLimits {
  readonly perHour: number;
  readonly perMinute: number;
  readonly concurrent: number;
  readonly burst: number | null;
  readonly tokensPerMonth: number | null;
}

/** The tiers on which a scenario runs. For example, `published` means each tier with published limits. */
type ScenarioTiers =
  | "all"
  | "published"
  /** The tiers with a published burst, and `enterprise`, whose burst a target file can state. */
  | "with burst"
  | readonly ("free" | "pro" | "enterprise")[];

type ScenarioNeed =
  | "agents.slow"
  | "agents.slowStreaming"
  | "agents.failing"
  | "keys.second"
  /** A webhook receiver, which the harness runs, and which the target can reach. */
  | "receiver";

/** The traffic of a load test, and the clauses by which its evidence is judged. */
export interface Scenario {
  readonly name: string;
  readonly title: string;
  /** Describes the traffic in one line, for the table in scenarios/README.md. */
  readonly sends: string;
  readonly claims: readonly string[];
  /**
   * The scenario's findings count in this requirement set and later ones. Default: the requirement set that added the
   * finding's clause.
   */
  readonly since?: "1.0" | "1.1" | "1.2";
  readonly tiers: ScenarioTiers;
  /** Engines that can send this traffic. The first engine is the default. */
  readonly engines: readonly EngineName[];
  /** Limits of the embedded server's `enterprise` tier for this scenario; `null` for the usual limits. */
  readonly enterpriseLimits: ScenarioLimits | null;
  readonly needs: readonly ScenarioNeed[];
  /** Returns the flows to send. All times of the flows are times of the target's clock. */
  flows(limits: ScenarioLimits): readonly Flow[];
  /** Returns the speed of the embedded server's clock, as a multiple of real time. */
  speed(limits: ScenarioLimits): number;
  /** Returns about how long the flows take, in seconds of the target's clock. */
  seconds(limits: ScenarioLimits): number;
  /**
   * Returns how many requests of each flow must be admitted. Only scripts that a user starts by `k6 run` check this.
   */
  admitted(plan: AdmissionPlan): AdmittedByFlow;
}

/** A series of requests with the same key, operation and traffic shape. All times are times of the target's clock. */
export interface Flow {
  readonly name: string;
  readonly key: KeyRole;
  readonly operation: Operation;
  readonly shape: TrafficShape;
  /** When the flow starts, in seconds after the start of the load. */
  readonly afterSeconds: number;
  /** Milliseconds after which the client of each request disconnects; `null` if clients read the whole response. */
  readonly leaveAfterMs: number | null;
}

export type KeyRole = "main" | "second";

export interface Operation {
  readonly kind: "invoke" | "stream" | "health" | "usage" | "list";
  readonly agent: AgentRole;
}

export type AgentRole = "answering" | "streaming" | "slow" | "slowStreaming" | "failing";

export type TrafficShape =
  | { readonly kind: "at once"; readonly requests: number }
  /** Sends sequential requests on one connection. */
  | { readonly kind: "in turn"; readonly requests: number }
  /** Sends a number of requests over `atOnce` connections, each with one request at a time. */
  | { readonly kind: "shared"; readonly atOnce: number; readonly requests: number }
  /** Sends requests for some seconds over `atOnce` connections, each with one request at a time. */
  | { readonly kind: "closed"; readonly atOnce: number; readonly seconds: number }
  /** Sends requests at a constant rate that does not depend on responses. Only k6 can send this shape. */
  | { readonly kind: "paced"; readonly perSecond: number; readonly seconds: number }
  /** In each of `rounds` rounds, sends requests until one is refused, and retries after `retry_after`. */
  | { readonly kind: "after refusal"; readonly rounds: number };

/**
 * Converts a flow's times from the target's clock to this machine's clock. The target's clock is `speed` times as fast.
 */
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

/**
 * Flows retry early only if `retry_after` is at least this many seconds. Must equal `minEarlySeconds` in
 * src/rules/limits/key-history.ts.
 */
const minEarlySeconds = 4;
/** When to retry early, as fractions of `retry_after`. */
const earlyRetryShares = [1 / 3, 0.7] as const;

/** Returns when to retry early, in seconds after the refusal. Rounds with an even index do not retry early. */
export function earlyRetrySeconds(retryAfterSeconds: number, round: number): readonly number[] {
  if (round % 2 === 0 || retryAfterSeconds < minEarlySeconds) return [];
  return earlyRetryShares.map((share) => share * retryAfterSeconds);
}

/** Returns when to retry late, in seconds after the refusal. Adds a second: a server may round `retry_after` down. */
export const lateRetrySeconds = (retryAfterSeconds: number): number => retryAfterSeconds + 1;

export function requestCount({ shape }: Flow): number | null {
  if ("requests" in shape) return shape.requests;
  return shape.kind === "paced" ? Math.round(shape.perSecond * shape.seconds) : null;
}

interface AdmittedBounds {
  readonly min: number;
  readonly max: number;
}

/** Bounds for the number of admitted requests, by the flow's name. A flow without an entry has no bounds. */
export type AdmittedByFlow = Readonly<Record<string, AdmittedBounds>>;

interface AdmissionPlan {
  readonly limits: ScenarioLimits;
  readonly flows: readonly Flow[];
  /** Bounds for the admitted requests of an unused key in a minute. With `burstAdds`, `max` includes the burst. */
  readonly minute: AdmittedBounds;
}

export function admissionPlan(flows: readonly Flow[], limits: ScenarioLimits, burstAdds: boolean): AdmissionPlan {
  const { perMinute, burst } = limits;
  return { flows, limits, minute: { min: perMinute, max: perMinute + (burstAdds ? (burst ?? perMinute) : 0) } };
}

export const exactly = (count: number): AdmittedBounds => ({ min: count, max: count });

/**
 * Returns bounds that require the server to admit every request of the flows whose name starts with `prefix`. A flow
 * without a known number of requests must have at least one admitted request.
 */
export const allAdmitted = (plan: AdmissionPlan, prefix = ""): AdmittedByFlow =>
  Object.fromEntries(flowsNamed(plan, prefix).map((flow) => [flow.name, boundsOfWholeFlow(flow)]));

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
