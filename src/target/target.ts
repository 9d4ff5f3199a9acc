import type { TierLimits } from "../interface/tiers.ts";

/** What an agent of the target is good for in a run. */
export const agentRoles = {
  answering: "answers an invoke",
  streaming: "answers a stream",
  slow: "takes a second or more to answer an invoke",
  slowStreaming: "streams for some seconds",
  failing: "fails, so that an invoke answers 500",
  failingInStream: "fails in mid-stream",
  overloaded: "is overloaded, and says so in its stream",
  degraded: "has a degraded health",
  unhealthy: "has an unhealthy health",
  remembering: "keeps a session's context, and shows what was said before in its result",
} as const;

export type AgentRole = keyof typeof agentRoles;

/** One API key of the target. */
export interface TargetKey {
  readonly name: string;
  readonly key: string;
  /** Tier of the key; `null` where nobody said. */
  readonly tier: string | null;
  /** `true` where nobody said the tier, and the target's own headers showed it. */
  readonly isTierShown: boolean;
  /** Shell variable that holds the key, for commands that a person runs again. */
  readonly variable: string;
  readonly expired: boolean;
  /** Why the key is no good for general use (a scope, one agent, an address list, a short life); `null` where it is. */
  readonly restriction: string | null;
  /** `true` where nothing was sent with the key before the run. */
  readonly fresh: boolean;
}

/** A way to move the target's own clock forward. */
export interface ClockControl {
  readonly advance: (ms: number) => Promise<void>;
}

/** How the roles of agents came to be known. */
export type AgentSource = "named" | "found";

/** A deployment under test. `baseUrl` ends in `/v1`, without a trailing slash. */
export interface Target {
  readonly name: string;
  readonly baseUrl: string;
  readonly keys: Readonly<Record<string, TargetKey>>;
  readonly agents: Partial<Readonly<Record<AgentRole, string>>>;
  readonly agentSource: AgentSource;
  /** Numbers of tiers that the document leaves open. */
  readonly tiers: Readonly<Record<string, TierLimits>>;
  readonly clock: ClockControl | null;
}

/** Keys that are valid, unrestricted, and so fit for any probe. */
export const usableKeys = (target: Target): TargetKey[] =>
  Object.values(target.keys).filter((key) => !key.expired && key.restriction === null);
