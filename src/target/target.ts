import { type Network, plainNetwork } from "../base/network/network.ts";
import type { WebhookEvent } from "../spec/events.ts";
import type { TierLimits } from "../spec/tiers.ts";

/** What an agent of the target is good for in a run. */
export const agentRoles = {
  answering: "answers an invoke",
  streaming: "answers a stream",
  slow: "takes a second or more to answer an invoke",
  slowStreaming: "streams for some seconds",
  timingOut: "runs into its own timeout",
  failing: "fails, so that an invoke answers 500",
  failingInStream: "fails in mid-stream",
  overloaded: "is overloaded, and says so in its stream",
  degraded: "has a degraded health",
  unhealthy: "has an unhealthy health",
  remembering: "keeps a session's context, and shows what was said before in its result",
  rememberingInStream: "keeps a session's context, and shows what was said before in its stream",
  webhooked: "is called by nothing else during a run, so that its webhooks are quiet",
} as const;

export type AgentRole = keyof typeof agentRoles;

/** Roles that a request can make any agent play: they are what it does with that request, and not what it is. */
export const requestRoles = [
  "slow",
  "slowStreaming",
  "timingOut",
  "failing",
  "failingInStream",
  "overloaded",
] as const satisfies readonly AgentRole[];
export type RequestRole = (typeof requestRoles)[number];

/** Who plays a role, and what is asked so that it does. */
export interface RoleAssignment {
  readonly agent: string;
  /** Fields of the body that make it play; they go before those of a probe. Empty where it is the agent's own nature. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Where it is asked, below the base URL; `{agent_id}` and `{endpoint}` stand for what they say. `null`: where the document says. */
  readonly path: string | null;
}

/** One API key of the target. */
export interface TargetKey {
  readonly name: string;
  readonly key: string;
  /** Tier of the key; `null` where nobody said. */
  readonly tier: string | null;
  /** `true` where nobody said the tier, and the target's own headers showed it. */
  readonly isTierDetected: boolean;
  /** Shell variable that holds the key, for commands that a person runs again. */
  readonly variable: string;
  readonly expired: boolean;
  readonly scope: "read-only" | null;
  /** The only agents that it may call; `null` for all. */
  readonly agents: readonly string[] | null;
  /** The only addresses that it may come from; `null` for all. */
  readonly allowedIps: readonly string[] | null;
  /** A temporary key's life, in seconds from the start of the run; `null` where it does not end. */
  readonly expiresInSeconds: number | null;
  /** `true` where the month's tokens are nearly used up. */
  readonly nearQuota: boolean;
  /** Tokens a month that it has instead of its tier's; `null` where it has those. */
  readonly tokensPerMonth: number | null;
  /** `true` where it lets in only with a signature. */
  readonly signed: boolean;
  /** What its signatures are made with; `null`: the target's signing secret. */
  readonly signingSecret: string | null;
  /** `true` where nothing was sent with the key before the run. */
  readonly fresh: boolean;
}

/** A way to move the target's own clock forward. */
export interface ClockControl {
  readonly advance: (ms: number) => Promise<void>;
  /** Real time after a move in which what the move started reaches us, in milliseconds. */
  readonly settleMs: number;
  /** Whether somebody promised that agents tell the time by it, too. */
  readonly agentsFollow: boolean;
}

/** Where the harness listens for deliveries. */
export interface WebhookSettings {
  /** Host and port; port 0 takes a free one. */
  readonly listen: string;
  /** Address under which the target reaches the receiver, such as a tunnel's; `null` where it reaches `listen` itself. */
  readonly publicUrl: string | null;
  /** Whether somebody promised that the target can reach the receiver; otherwise its silence proves nothing. */
  readonly isReachabilityPromised: boolean;
}

/** Paths that the document leaves open. */
export interface OpenPaths {
  /** Below the base URL; `{agent_id}` stands for an agent. */
  readonly batch: string | null;
  /** Where an operation is started, where that is not by a batch: below the base URL; `{agent_id}` stands for an agent. */
  readonly operation: string | null;
  /** From the origin; `{agent_id}` stands for an agent. */
  readonly execute: string | null;
}

/**
 * How the roles of agents came to be known. Where somebody named an agent that answers, and none that streams, the one that answers is
 * asked for streams as well: it is promised to answer, not to stream.
 */
export type AgentSource = "named" | "named to answer" | "found";

/** A deployment under test. `baseUrl` ends in `/v1`, without a trailing slash. */
export interface Target {
  readonly name: string;
  readonly baseUrl: string;
  readonly keys: Readonly<Record<string, TargetKey>>;
  /** Agents that play a role by their own nature. */
  readonly agents: Partial<Readonly<Record<AgentRole, string>>>;
  /** Those that play one where the request makes them. */
  readonly players: Partial<Readonly<Record<RequestRole, RoleAssignment>>>;
  readonly agentSource: AgentSource;
  /** Numbers of tiers that the document leaves open. */
  readonly tiers: Readonly<Record<string, TierLimits>>;
  readonly clock: ClockControl | null;
  readonly webhooks: WebhookSettings | null;
  /** Ways to make an event happen that no request of the interface causes. */
  readonly triggers: Partial<Readonly<Record<WebhookEvent, () => Promise<void>>>>;
  /** The secret of request signatures. */
  readonly signing: { readonly secret: string } | null;
  readonly paths: OpenPaths;
  /** Whether nothing stands before the target that tells it where a request comes from: no proxy, no gateway. */
  readonly isDirect: boolean;
  readonly network: Network;
  /** What authorizes the calls of `clock` and `triggers`, and us to a proxy; written nowhere. */
  readonly callSecrets: readonly string[];
}

/** What a key has where nobody said otherwise. */
export const defaultKeyTraits = {
  tier: null,
  isTierDetected: false,
  expired: false,
  scope: null,
  agents: null,
  allowedIps: null,
  expiresInSeconds: null,
  nearQuota: false,
  tokensPerMonth: null,
  signed: false,
  signingSecret: null,
  fresh: false,
} as const satisfies Partial<TargetKey>;

/** What a target has besides its address and keys where nobody said otherwise. */
export const defaultTargetTraits = {
  agents: {},
  players: {},
  agentSource: "found",
  tiers: {},
  clock: null,
  webhooks: null,
  triggers: {},
  signing: null,
  paths: { batch: null, operation: null, execute: null },
  isDirect: false,
  network: plainNetwork,
  callSecrets: [],
} as const satisfies Partial<Target>;

const isRestricted = ({
  scope,
  agents,
  allowedIps,
  expiresInSeconds,
  nearQuota,
  tokensPerMonth,
  signed,
}: TargetKey): boolean =>
  scope !== null ||
  agents !== null ||
  allowedIps !== null ||
  expiresInSeconds !== null ||
  nearQuota ||
  tokensPerMonth !== null ||
  signed;

/** Who plays a role of the kind that requests can make; `null` where nobody is known to. */
export function roleAssignmentOf(
  { agents, players }: Pick<Target, "agents" | "players">,
  role: RequestRole,
): RoleAssignment | null {
  const agent = agents[role];
  return players[role] ?? (agent === undefined ? null : { agent, body: {}, path: null });
}

/** Ids of all that play a role, by nature or by what they are asked. */
export const assignedAgents = ({ agents, players }: Pick<Target, "agents" | "players">): string[] => [
  ...Object.values(agents),
  ...Object.values(players).map(({ agent }) => agent),
];

/** Who plays what, and what is asked for it, by role: as a person reads it. */
export function describeRoles(target: Pick<Target, "agents" | "players">): Readonly<Record<string, string>> {
  const asked = Object.entries(target.players).map(([role, { agent, body, path }]): [string, string] => [
    role,
    [
      agent,
      ...(path === null ? [] : [`at ${path}`]),
      ...(isEmpty(body) ? [] : [`asked with ${JSON.stringify(body)}`]),
    ].join(" "),
  ]);
  return { ...target.agents, ...Object.fromEntries(asked) };
}

const isEmpty = (body: object): boolean => Object.keys(body).length === 0;

/** The key that lets in only where it is signed for; `null` where there is none. */
export const keyToSignFor = ({ keys }: Pick<Target, "keys">): TargetKey | null =>
  Object.values(keys).find((key) => key.signed && !key.expired) ?? null;

/** Keys that are valid, unrestricted, and so fit for any probe. */
export const usableKeys = (target: Target): TargetKey[] =>
  Object.values(target.keys).filter((key) => !key.expired && !isRestricted(key));
