import type { AgentRole, KeyRole } from "../../scenarios/scenario.ts";
import { agentVariables, keyVariables } from "../../src/load/engines/k6/variables.ts";
import { publishedTiers, type TierLimits, type TierName, tierNames } from "../../src/spec/tiers.ts";

export interface Settings {
  /** The base URL. Ends in `/v1`, without a slash after it. */
  readonly baseUrl: string;
  readonly tier: TierName;
  readonly limits: TierLimits;
  /** Speed of the target's clock, as a multiple of the speed of this machine's clock. */
  readonly speed: number;
  /** Whether the script only records requests and responses, so that `conformance load` can judge them. */
  readonly isRecording: boolean;
  /** Whether the target admits the burst in addition to the limit per minute. */
  readonly burstAdds: boolean;
  readonly client: { readonly cert: string; readonly key: string } | null;
  /** Unix time, in ms, at which all k6 processes of a run start; `null` to start immediately. */
  readonly startAtMs: number | null;
  /** Throws if the environment variable with the role's key is not set. */
  key(role: KeyRole): string;
  /** Returns the id of the role's agent. Throws if its variable is not set and the role has no default (`echo`). */
  agent(role: AgentRole): string;
  roleRequest(role: AgentRole): RoleRequest;
}

/** Path and body fields of a request that makes an agent play a role, e.g. respond slowly. */
interface RoleRequest {
  readonly body: Readonly<Record<string, unknown>>;
  readonly path: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readSettings(environment: Environment): Settings {
  const tier = readTier(environment.TIER);
  const roleRequests = readJson<Partial<Record<AgentRole, RoleRequest>>>("PLAYERS", environment.PLAYERS ?? "{}");
  return {
    baseUrl: readBaseUrl(environment.BASE_URL),
    tier,
    limits: readLimits(tier, environment.LIMITS),
    speed: readNumber("SPEED", environment.SPEED) ?? 1,
    isRecording: environment.RECORD === "true",
    burstAdds: environment.BURST_ADDS === "true",
    client: readClient(environment),
    startAtMs: readNumber("START_AT", environment.START_AT),
    key: (role) => required(environment, keyVariables[role], "an API key"),
    agent: (role) => readAgent(environment, role),
    roleRequest: (role) => roleRequests[role] ?? { body: {}, path: null },
  };
}

function readClient({ CLIENT_CERT: cert = "", CLIENT_KEY: key = "" }: Environment): Settings["client"] {
  if (cert === "" && key === "") return null;
  if (cert === "" || key === "") throw new Error("CLIENT_CERT and CLIENT_KEY belong together: give both, as PEM.");
  return { cert, key };
}

function readBaseUrl(text: string | undefined): string {
  if (text === undefined || !/^https?:\/\/[^/]/.test(text))
    throw new Error(`BASE_URL is ${text === undefined ? "not set" : "no URL"}: give -e BASE_URL=https://…/v1.`);
  return `${text.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
}

function readTier(text: string | undefined): TierName {
  const tier = tierNames.find((name) => name === (text ?? "free"));
  if (tier === undefined) throw new Error(`TIER is "${text}": give one of ${tierNames.join(", ")}.`);
  return tier;
}

function readLimits(tier: TierName, text: string | undefined): TierLimits {
  if (text !== undefined) return { ...noLimits, ...readJson<Partial<TierLimits>>("LIMITS", text) };
  if (tier !== "enterprise") return publishedTiers[tier];
  throw new Error(
    'The limits of the enterprise tier are custom: give -e LIMITS=\'{"perHour":…,"perMinute":…,"concurrent":…,"burst":…}\'.',
  );
}

function readJson<T>(name: string, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Error(`${name} is no JSON: ${text}`);
  }
}

const noLimits: TierLimits = { perHour: 0, perMinute: 0, concurrent: 0, burst: null, tokensPerMonth: null };

function readNumber(name: string, text: string | undefined): number | null {
  if (text === undefined || text === "") return null;
  if (!Number.isFinite(Number(text))) throw new Error(`${name} is "${text}": give a number.`);
  return Number(text);
}

function readAgent(environment: Environment, role: AgentRole): string {
  if (role === "answering") return assertSendable(environment.AGENT ?? "echo");
  if (role === "streaming") return assertSendable(environment.AGENT_STREAMING ?? environment.AGENT ?? "echo");
  return assertSendable(required(environment, agentVariables[role], `the id of an agent that is ${rolesInText[role]}`));
}

function assertSendable(agent: string): string {
  if (agent === "." || agent === "..")
    throw new Error(`An agent is named "${agent}", which is taken out of every URL: name another one.`);
  return agent;
}

const rolesInText = {
  slow: "slow to answer",
  slowStreaming: "slow to stream",
  failing: "sure to fail",
} as const;

function required(environment: Environment, name: string, what: string): string {
  const value = environment[name];
  if (value === undefined || value === "") throw new Error(`This scenario needs ${what}: give -e ${name}=….`);
  return value;
}
