import { type Network, plainNetwork } from "../base/network/network.ts";
import type { WebhookEvent } from "../spec/events-and-errors.ts";
import type { Profile } from "../spec/profiles.ts";
import type { TierLimits } from "../spec/tiers.ts";

/** The roles that an agent can play. The texts complete the sentence "an agent that …". */
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

/** Agent roles that a request can trigger. For example, an agent can fail on a certain `query`. */
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

export interface RoleAssignment {
  readonly agent: string;
  /** Body fields that trigger the role, e.g. a `query` that makes the agent fail. Empty if any request triggers it. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Path below the base URL. It may contain `{agent_id}` and `{endpoint}`. `null`: the documented path. */
  readonly path: string | null;
}

/** Fields that the harness adds to requests that run an agent. For example, some agents need a `context`. */
export interface OwnRequest {
  readonly role: AgentRole;
  readonly agent: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface TargetKey {
  readonly name: string;
  readonly key: string;
  readonly tier: string | null;
  /** Whether the tier was concluded from response headers. `false`: the user stated the tier, or it is unknown. */
  readonly isTierDetected: boolean;
  /** Name of the shell variable that stands for the key in printed `curl` commands. */
  readonly variable: string;
  readonly expired: boolean;
  readonly scope: "read-only" | null;
  /** Agents that the key may call; `null` for all. */
  readonly agents: readonly string[] | null;
  /** Source addresses from which the key may be used; `null` for all. */
  readonly allowedIps: readonly string[] | null;
  /** Lifetime in seconds from the start of the run; `null` if the key does not expire. */
  readonly expiresInSeconds: number | null;
  /** Whether the user states that the key has nearly used up its monthly tokens. */
  readonly nearQuota: boolean;
  /** Token limit of the key for a month; `null` if its tier's limit applies. */
  readonly tokensPerMonth: number | null;
  readonly signed: boolean;
  /** The secret that signs requests of this key. `null`: the target's `signing.secret` is used, if it has one. */
  readonly signingSecret: string | null;
  /** Whether the key counts as unused before the run, so that its limits are not partly used up. */
  readonly fresh: boolean;
  /**
   * Whether the key is allowed to appear in a URL. Users should revoke such a key after the run, because servers log
   * URLs.
   */
  readonly disposable: boolean;
}

export interface ClockControl {
  readonly advance: (ms: number) => Promise<void>;
  /** Real time after a clock advance until the harness can observe its effects. */
  readonly settleMs: number;
  /** Whether the user states that the agents' own clocks follow the test clock. */
  readonly agentsFollow: boolean;
}

/** Access to a target's test control: an HTTP API that e.g. issues keys, lists agents and advances a test clock. */
export interface TestControl {
  readonly url: string;
  readonly token: string;
}

export interface WebhookSettings {
  /** Address on which the receiver listens, as `host:port`. Port 0: any free port. */
  readonly listen: string;
  /** URL at which the target reaches the receiver, such as the URL of a tunnel. `null`: the `listen` address. */
  readonly publicUrl: string | null;
  /** Whether the user promises that the target can reach the receiver. Otherwise, a missing delivery proves nothing. */
  readonly isReachabilityPromised: boolean;
  readonly sources: DeliverySources | null;
}

export interface DeliverySources {
  readonly addresses: readonly string[];
  /** Request header in which a tunnel states the sender's address; `null` without a tunnel. */
  readonly header: string | null;
}

/**
 * Paths that the target file states, because the interface document does not define them. A path is `null` if the
 * target file does not state it.
 */
export interface OpenPaths {
  /** Path of the batch endpoint. It may contain `{agent_id}`. */
  readonly batch: string | null;
  /** Path that starts an operation other than a batch. It may contain `{agent_id}`. */
  readonly operation: string | null;
  /** Local execution path of an entrypoint, relative to the origin of the base URL. It may contain `{agent_id}`. */
  readonly execute: string | null;
}

/**
 * Agents that the user or the test control names. `named`: those for invokes and for streams. `named to answer`: only the
 * one for invokes. `found`: none for invokes.
 */
type AgentSource = "named" | "named to answer" | "found";

/** A deployment under test. `baseUrl` ends in `/v1`, unless the target is a webhook receiver. */
export interface Target {
  readonly name: string;
  readonly baseUrl: string;
  readonly keys: Readonly<Record<string, TargetKey>>;
  /** `none`: a local server whose `auth_settings.type` is `none`. The harness sends no key. */
  readonly auth: "keys" | "none";
  /** Agent ids by role. For example, the agent `failing` fails on every request. */
  readonly agents: Partial<Readonly<Record<AgentRole, string>>>;
  /** For some roles, an agent and the request that triggers the role. E.g. a certain `query` makes an agent fail. */
  readonly roleAssignments: Partial<Readonly<Record<RequestRole, RoleAssignment>>>;
  readonly ownRequests: readonly OwnRequest[];
  readonly agentSource: AgentSource;
  /** Limits that the user stated for a tier. They take precedence over the published limits. */
  readonly tiers: Readonly<Record<string, TierLimits>>;
  readonly clock: ClockControl | null;
  readonly control: TestControl | null;
  /** Asks the target which keys are unused since `freshness.freshAt`; `null` if the target file has no `freshness`. */
  readonly unusedKeys: (() => Promise<ReadonlySet<string>>) | null;
  readonly webhooks: WebhookSettings | null;
  /** Functions that make the target send a webhook event. No documented request causes e.g. `deployment.updated`. */
  readonly triggers: Partial<Readonly<Record<WebhookEvent, () => Promise<void>>>>;
  readonly signing: { readonly secret: string } | null;
  readonly paths: OpenPaths;
  readonly offers: readonly Profile[] | null;
  /** Whether the target file says that no proxy in front of the target sets `X-Forwarded-For`. */
  readonly isDirect: boolean;
  readonly network: Network;
  /** Further secrets to redact, such as the proxy password or tokens in the target file's HTTP calls. */
  readonly callSecrets: readonly string[];
}

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

/** Placeholder key of a target that needs no key. Requests with this key have no `Authorization` header. */
export const noKey: TargetKey = { ...defaultKeyTraits, name: "none", key: "", variable: "NO_KEY" };

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

export function roleAssignmentOf(
  { agents, roleAssignments }: Pick<Target, "agents" | "roleAssignments">,
  role: RequestRole,
): RoleAssignment | null {
  const agent = agents[role];
  return roleAssignments[role] ?? (agent === undefined ? null : { agent, body: {}, path: null });
}

export const assignedAgents = ({ agents, roleAssignments }: Pick<Target, "agents" | "roleAssignments">): string[] => [
  ...Object.values(agents),
  ...Object.values(roleAssignments).map(({ agent }) => agent),
];

export function describeRoles(
  target: Pick<Target, "agents" | "roleAssignments" | "ownRequests">,
): Readonly<Record<string, string>> {
  const own = target.ownRequests
    .filter(({ role, agent }) => target.agents[role] === agent)
    .map(({ role, agent, body }): [string, RoleAssignment] => [role, { agent, body, path: null }]);
  const described = [...own, ...Object.entries(target.roleAssignments)].map(([role, { agent, body, path }]) => {
    const fields = Object.keys(body).length === 0 ? [] : [`asked with ${JSON.stringify(body)}`];
    return [role, [agent, ...(path === null ? [] : [`at ${path}`]), ...fields].join(" ")] as const;
  });
  return { ...target.agents, ...Object.fromEntries(described) };
}

/** Returns an unexpired key that requires signed requests, preferably without other restrictions; otherwise `null`. */
export function keyToSignFor({ keys }: Pick<Target, "keys">): TargetKey | null {
  const signed = Object.values(keys).filter((key) => key.signed && !key.expired);
  return signed.find((key) => !isRestricted({ ...key, signed: false })) ?? signed[0] ?? null;
}

export const usableKeys = (target: Target): TargetKey[] =>
  Object.values(target.keys).filter((key) => !key.expired && !isRestricted(key));

/** Sets the tier that response headers showed for a key, unless the user stated a tier. */
export function withDetectedTier(target: Target, keyName: string, tier: string | null): Target {
  const key = target.keys[keyName];
  if (key === undefined || key.tier !== null || tier === null || target.auth === "none") return target;
  return { ...target, keys: { ...target.keys, [keyName]: { ...key, tier, isTierDetected: true } } };
}
