import { type Network, plainNetwork } from "../base/network/network.ts";
import type { WebhookEvent } from "../spec/events.ts";
import type { Profile } from "../spec/profiles.ts";
import type { TierLimits } from "../spec/tiers.ts";

/** The roles of agents. Each text follows the words "an agent that". */
export const agentRoles = {
  answering: "answers an invoke",
  streaming: "answers a stream",
  slow: "takes a second or more to answer an invoke",
  slowStreaming: "streams for some seconds",
  timingOut: "runs into its own timeout",
  timingOutByDefault: "takes longer than 30 s, and has no timeout of its own configured",
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

/** Roles that the target file may assign to an agent for a certain request instead of for all. */
export const requestRoles = [
  "slow",
  "slowStreaming",
  "timingOut",
  "timingOutByDefault",
  "failing",
  "failingInStream",
  "overloaded",
] as const satisfies readonly AgentRole[];
export type RequestRole = (typeof requestRoles)[number];

export const isRequestRole = (role: string): role is RequestRole => requestRoles.some((each) => each === role);

/** An agent, and the request that makes it play a role. */
export interface RoleAssignment {
  readonly agent: string;
  /** Body fields that replace those of a probe's request. Empty if the agent plays the role on every request. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Path of the request below the base URL, with `{agent_id}` and `{endpoint}`; `null` for the documented one. */
  readonly path: string | null;
}

/** Fields that an agent needs in the body of every invoke or stream, such as a `context`. */
export interface OwnRequest {
  readonly role: AgentRole;
  readonly agent: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An API key of the target. */
export interface TargetKey {
  readonly name: string;
  readonly key: string;
  /** The tier of the key; `null` if unknown. */
  readonly tier: string | null;
  /** Whether the run detected the tier from rate-limit headers. `false` if the user stated it. */
  readonly isTierDetected: boolean;
  /** Name of the shell variable that stands for the key in printed `curl` commands. */
  readonly variable: string;
  readonly expired: boolean;
  readonly scope: "read-only" | null;
  /** Agents that the key may call; `null` for all. */
  readonly agents: readonly string[] | null;
  /** Source addresses from which the key may be used; `null` for all. */
  readonly allowedIps: readonly string[] | null;
  /** Lifetime of a temporary key in seconds, from the start of the run; `null` if it does not expire. */
  readonly expiresInSeconds: number | null;
  /** Whether the key has nearly used up its token quota of the month. The user states this. */
  readonly nearQuota: boolean;
  /** Token limit of the key for a month; `null` if its tier's limit applies. */
  readonly tokensPerMonth: number | null;
  /** Whether the target accepts the key only with signed requests. */
  readonly signed: boolean;
  /** Secret with which requests of this key are signed; `null` if that of the target applies. */
  readonly signingSecret: string | null;
  /** Whether nothing was sent with the key before the run, so that its limits are not partly used up. */
  readonly fresh: boolean;
  /** Whether the key may occur in a URL, which servers log, because it is revoked after the run. */
  readonly disposable: boolean;
}

export interface ClockControl {
  readonly advance: (ms: number) => Promise<void>;
  /** Real time until the effects of an advance have reached the harness, in milliseconds. */
  readonly settleMs: number;
  /** Whether the agents' own clocks follow the test clock. The user states this. */
  readonly agentsFollow: boolean;
}

/** Access to the test control of the target, which issues keys and names agents. */
export interface TestControl {
  readonly url: string;
  readonly token: string;
}

export interface WebhookSettings {
  /** Address to listen on, as `host:port`. Port 0: any free port. */
  readonly listen: string;
  /** URL at which the target reaches the receiver, such as a tunnel's; `null` for the address `listen`. */
  readonly publicUrl: string | null;
  /** Whether the user promises that the target can reach the receiver; if not, a missing delivery proves nothing. */
  readonly isReachabilityPromised: boolean;
  /** The published source addresses of deliveries; `null` if the user lists none. */
  readonly sources: DeliverySources | null;
}

/** The source addresses that a vendor publishes, and the header in which a delivery shows its own. */
export interface DeliverySources {
  /** Addresses and ranges from which deliveries are sent, such as `203.0.113.0/28`. */
  readonly addresses: readonly string[];
  /** Header in which a tunnel passes on the sender's address; `null` if the connection shows the address. */
  readonly header: string | null;
}

/** Paths of endpoints that the interface document mentions, but does not define; `null` if not given. */
export interface OpenPaths {
  /** Path of the batch endpoint, below the base URL. It may contain `{agent_id}`. */
  readonly batch: string | null;
  /** Path below the base URL that starts an operation other than a batch. It may contain `{agent_id}`. */
  readonly operation: string | null;
  /** Path that executes an agent, relative to the origin instead of the base URL. It may contain `{agent_id}`. */
  readonly execute: string | null;
}

/** How the agents for invokes and streams were chosen: both named, one named for both, or found by discovery. */
export type AgentSource = "named" | "named to answer" | "found";

/** A deployment under test. `baseUrl` ends in `/v1`. */
export interface Target {
  readonly name: string;
  readonly baseUrl: string;
  readonly keys: Readonly<Record<string, TargetKey>>;
  /** Whether the target asks for keys. A local server with the `auth_settings.type` `none` does not. */
  readonly auth: "keys" | "none";
  /** Ids of agents by role, for agents that play the role on every request. */
  readonly agents: Partial<Readonly<Record<AgentRole, string>>>;
  /** Agents that play a role only on a certain request, by role. */
  readonly roleAssignments: Partial<Readonly<Record<RequestRole, RoleAssignment>>>;
  /** Body fields that an agent needs in every invoke or stream, for each role whose agent needs some. */
  readonly ownRequests: readonly OwnRequest[];
  readonly agentSource: AgentSource;
  /** Limits that the user stated for a tier, such as `enterprise`. They override the published limits. */
  readonly tiers: Readonly<Record<string, TierLimits>>;
  readonly clock: ClockControl | null;
  /** The test control, which a run asks for keys and agents; `null` if the target file names none. */
  readonly control: TestControl | null;
  /** Asks the target for the names of unused keys. `null` if the target has no call for that. */
  readonly unusedKeys: (() => Promise<ReadonlySet<string>>) | null;
  readonly webhooks: WebhookSettings | null;
  /** Functions that cause events that no documented request causes, such as `deployment.created`. */
  readonly triggers: Partial<Readonly<Record<WebhookEvent, () => Promise<void>>>>;
  /** Secret with which requests are signed; `null` if the target does not use signing. */
  readonly signing: { readonly secret: string } | null;
  readonly paths: OpenPaths;
  /** The profiles that the vendor offers; `null` for all. */
  readonly offers: readonly Profile[] | null;
  /** Whether requests reach the target directly. Otherwise, a proxy before it may set `X-Forwarded-For`. */
  readonly isDirect: boolean;
  readonly network: Network;
  /** Secrets to redact: of the proxy, and of the HTTP calls under `clock`, `triggers` and `freshness`. */
  readonly callSecrets: readonly string[];
}

/** Defaults for the properties of a key that the user does not state. */
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

/** Stands for the key of a target that asks for none. Requests then have no `Authorization`. */
export const noKey: TargetKey = { ...defaultKeyTraits, name: "none", key: "", variable: "NO_KEY" };

/** Defaults for the properties of a target that the user does not state. */
export const defaultTargetTraits = {
  auth: "keys",
  agents: {},
  roleAssignments: {},
  ownRequests: [],
  agentSource: "found",
  tiers: {},
  clock: null,
  control: null,
  unusedKeys: null,
  webhooks: null,
  triggers: {},
  signing: null,
  paths: { batch: null, operation: null, execute: null },
  offers: null,
  isDirect: false,
  network: plainNetwork,
  callSecrets: [],
} as const satisfies Partial<Target>;

function isRestricted({ signed, nearQuota, ...key }: TargetKey): boolean {
  const restrictions = [key.scope, key.agents, key.allowedIps, key.expiresInSeconds, key.tokensPerMonth];
  return signed || nearQuota || restrictions.some((each) => each !== null);
}

/** Returns the agent that plays a role, and the request that makes it do so; `null` if no agent does. */
export function roleAssignmentOf(
  { agents, roleAssignments }: Pick<Target, "agents" | "roleAssignments">,
  role: RequestRole,
): RoleAssignment | null {
  const agent = agents[role];
  return roleAssignments[role] ?? (agent === undefined ? null : { agent, body: {}, path: null });
}

/** Returns the ids of all agents that play a role. */
export const assignedAgents = ({ agents, roleAssignments }: Pick<Target, "agents" | "roleAssignments">): string[] => [
  ...Object.values(agents),
  ...Object.values(roleAssignments).map(({ agent }) => agent),
];

/** Describes for people which agent plays each role, and on which request. */
export function describeRoles(
  target: Pick<Target, "agents" | "roleAssignments" | "ownRequests">,
): Readonly<Record<string, string>> {
  const own = target.ownRequests
    .filter(({ role, agent }) => target.agents[role] === agent)
    .map(({ role, agent, body }): [string, RoleAssignment] => [role, { agent, body, path: null }]);
  const described = [...own, ...Object.entries(target.roleAssignments)].map(([role, { agent, body, path }]) => {
    const asked = Object.keys(body).length === 0 ? [] : [`asked with ${JSON.stringify(body)}`];
    return [role, [agent, ...(path === null ? [] : [`at ${path}`]), ...asked].join(" ")] as const;
  });
  return { ...target.agents, ...Object.fromEntries(described) };
}

/** Returns the first key that the target accepts only with signed requests; `null` if there is none. */
export const keyToSignFor = ({ keys }: Pick<Target, "keys">): TargetKey | null =>
  Object.values(keys).find((key) => key.signed && !key.expired) ?? null;

/** Returns the keys that any probe can use: they have not expired, and have no restriction. */
export const usableKeys = (target: Target): TargetKey[] =>
  Object.values(target.keys).filter((key) => !key.expired && !isRestricted(key));

/** Sets the tier of a key to the one that response headers show. Keeps a tier that the user stated. */
export function withDetectedTier(target: Target, keyName: string, tier: string | null): Target {
  const key = target.keys[keyName];
  // A server that asks for no keys has no tier, because limits belong to keys.
  if (key === undefined || key.tier !== null || tier === null || target.auth === "none") return target;
  return { ...target, keys: { ...target.keys, [keyName]: { ...key, tier, isTierDetected: true } } };
}
