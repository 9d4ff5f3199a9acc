import { type Network, plainNetwork } from "../base/network/network.ts";
import type { WebhookEvent } from "../spec/events.ts";
import type { TierLimits } from "../spec/tiers.ts";

/** The roles that agents play in a run, each with what the agent does. */
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

/** Roles that an agent may play for one request and not for another. An agent plays any other role for all its requests. */
export const requestRoles = [
  "slow",
  "slowStreaming",
  "timingOut",
  "failing",
  "failingInStream",
  "overloaded",
] as const satisfies readonly AgentRole[];
export type RequestRole = (typeof requestRoles)[number];

/** The agent that plays a role, with the request that makes the agent do so. */
export interface RoleAssignment {
  readonly agent: string;
  /**
   * Body fields that make the agent play the role. They override those of a probe's request. Empty if the agent plays the role for any
   * request.
   */
  readonly body: Readonly<Record<string, unknown>>;
  /** The path below the base URL, with the placeholders `{agent_id}` and `{endpoint}`. `null` for the documented path. */
  readonly path: string | null;
}

/** An API key of the target. */
export interface TargetKey {
  readonly name: string;
  readonly key: string;
  /** The tier of the key. `null` if unknown. */
  readonly tier: string | null;
  /** Whether the tier was detected from response headers. */
  readonly isTierDetected: boolean;
  /** Shell variable of the key, for commands that a person can run. */
  readonly variable: string;
  readonly expired: boolean;
  readonly scope: "read-only" | null;
  /** The agents that the key may call. `null` for all. */
  readonly agents: readonly string[] | null;
  /** The source addresses that may use the key. `null` for all. */
  readonly allowedIps: readonly string[] | null;
  /** Lifetime of a temporary key, in seconds from the start of the run. `null` if it does not expire. */
  readonly expiresInSeconds: number | null;
  /** Whether the key's tokens of the month are nearly used up. */
  readonly nearQuota: boolean;
  /** The key's own limit of tokens a month. `null` if the limit of its tier applies. */
  readonly tokensPerMonth: number | null;
  /** Whether the key works only with signed requests. */
  readonly signed: boolean;
  /** The key's own signing secret. `null` if the signing secret of the target applies. */
  readonly signingSecret: string | null;
  /** Whether no request was sent with the key before the run. */
  readonly fresh: boolean;
  /** Whether the key may be sent in a URL, which servers log. Only a key that is revoked after the run may be. */
  readonly disposable: boolean;
}

/** Advances the target's test clock. */
export interface ClockControl {
  readonly advance: (ms: number) => Promise<void>;
  /** Real time in milliseconds until the effects of an advance have reached the harness. */
  readonly settleMs: number;
  /** Whether the agents' own clocks follow the test clock, as stated by the user. */
  readonly agentsFollow: boolean;
}

/** Settings of the webhook receiver. */
export interface WebhookSettings {
  /** Host and port to listen on. Port 0 picks a free one. */
  readonly listen: string;
  /** URL under which the target reaches the receiver, such as that of a tunnel. `null` if the target reaches it at `listen`. */
  readonly publicUrl: string | null;
  /** Whether the user promises that the target can reach the receiver. Without this promise, a missing delivery proves nothing. */
  readonly isReachabilityPromised: boolean;
}

/** Paths that the user has to give, because the document does not define them. */
export interface OpenPaths {
  /** The path of the batch endpoint, below the base URL, with `{agent_id}`. */
  readonly batch: string | null;
  /** The path to start an operation other than by a batch, below the base URL, with `{agent_id}`. */
  readonly operation: string | null;
  /** Path that executes an agent, with `{agent_id}`. It is relative to the origin and not to the base URL. */
  readonly execute: string | null;
}

/**
 * The origin of the agents. `named`: the user named an agent for streams. `named to answer`: the user named only an agent that answers
 * invokes, which is used for streams too but need not support them. `found`: discovery looks for agents, unless a flag names one.
 */
export type AgentSource = "named" | "named to answer" | "found";

/** A deployment under test. `baseUrl` ends in `/v1`. */
export interface Target {
  readonly name: string;
  readonly baseUrl: string;
  readonly keys: Readonly<Record<string, TargetKey>>;
  /** Agents that play a role for every request. */
  readonly agents: Partial<Readonly<Record<AgentRole, string>>>;
  /** Agents that play a role only for a certain request. */
  readonly roleAssignments: Partial<Readonly<Record<RequestRole, RoleAssignment>>>;
  readonly agentSource: AgentSource;
  /** Limits that the user stated for tiers, such as `enterprise`. They take precedence over the published limits. */
  readonly tiers: Readonly<Record<string, TierLimits>>;
  readonly clock: ClockControl | null;
  /** Asks the target which keys are unused, and returns their names. `null` if the target has no call for that. */
  readonly unusedKeys: (() => Promise<ReadonlySet<string>>) | null;
  readonly webhooks: WebhookSettings | null;
  /** Calls that cause events, for events that no request of the interface causes. */
  readonly triggers: Partial<Readonly<Record<WebhookEvent, () => Promise<void>>>>;
  /** The secret with which requests are signed. */
  readonly signing: { readonly secret: string } | null;
  readonly paths: OpenPaths;
  /** Whether requests reach the target directly, without a proxy or gateway that tells it the client's address. */
  readonly isDirect: boolean;
  readonly network: Network;
  /** Secrets in the calls of `clock`, `triggers` and `freshness`, and of the proxy. They are redacted everywhere. */
  readonly callSecrets: readonly string[];
}

/** Default properties of a key. */
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
  disposable: false,
} as const satisfies Partial<TargetKey>;

/** Default properties of a target. */
export const defaultTargetTraits = {
  agents: {},
  roleAssignments: {},
  agentSource: "found",
  tiers: {},
  clock: null,
  unusedKeys: null,
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

/** The agent that plays a role, with the request that makes it do so. `null` if no agent plays the role. */
export function roleAssignmentOf(
  { agents, roleAssignments }: Pick<Target, "agents" | "roleAssignments">,
  role: RequestRole,
): RoleAssignment | null {
  const agent = agents[role];
  return roleAssignments[role] ?? (agent === undefined ? null : { agent, body: {}, path: null });
}

/** Ids of all agents that play a role. */
export const assignedAgents = ({ agents, roleAssignments }: Pick<Target, "agents" | "roleAssignments">): string[] => [
  ...Object.values(agents),
  ...Object.values(roleAssignments).map(({ agent }) => agent),
];

/** Describes the agent of each role, and its request, for people. */
export function describeRoles(target: Pick<Target, "agents" | "roleAssignments">): Readonly<Record<string, string>> {
  const described = Object.entries(target.roleAssignments).map(([role, { agent, body, path }]): [string, string] => [
    role,
    [
      agent,
      ...(path === null ? [] : [`at ${path}`]),
      ...(isEmpty(body) ? [] : [`asked with ${JSON.stringify(body)}`]),
    ].join(" "),
  ]);
  return { ...target.agents, ...Object.fromEntries(described) };
}

const isEmpty = (body: object): boolean => Object.keys(body).length === 0;

/** A key that works only with signed requests. `null` if there is none. */
export const keyToSignFor = ({ keys }: Pick<Target, "keys">): TargetKey | null =>
  Object.values(keys).find((key) => key.signed && !key.expired) ?? null;

/** Keys that have not expired and have no restriction, so that any probe can use them. */
export const usableKeys = (target: Target): TargetKey[] =>
  Object.values(target.keys).filter((key) => !key.expired && !isRestricted(key));

/** Sets the tier of a key to the tier that its response headers show, unless the user stated one. */
export function withDetectedTier(target: Target, keyName: string, tier: string | null): Target {
  const key = target.keys[keyName];
  if (key === undefined || key.tier !== null || tier === null) return target;
  return { ...target, keys: { ...target.keys, [keyName]: { ...key, tier, isTierDetected: true } } };
}
