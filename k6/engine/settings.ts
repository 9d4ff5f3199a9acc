import { publishedTiers, type TierLimits, type TierName, tierNames } from "../../src/spec/tiers.ts";

import type { AgentRole, KeyRole } from "./flows.ts";

/** What a script is told by `-e NAME=value` or by the environment. */
export interface Settings {
  /** Ends in `/v1`, without a slash after it. */
  readonly baseUrl: string;
  readonly tier: TierName;
  readonly limits: TierLimits;
  /** How many milliseconds pass at the target in one of ours. */
  readonly speed: number;
  /** One line on the console for each request, for whoever judges them; checks and thresholds are then left to them. */
  readonly isRecording: boolean;
  /** Whether the target's burst allowance comes on top of the minute's limit. */
  readonly burstAdds: boolean;
  /** What a server that asks for a certificate is shown, as PEM; `null` for nothing. */
  readonly client: { readonly cert: string; readonly key: string } | null;
  /** Epoch ms at which all processes of a run start together; `null`: at once. */
  readonly startAtMs: number | null;
  /** Throws where the role was not named. */
  key(role: KeyRole): string;
  /** Throws where the role was not named. */
  agent(role: AgentRole): string;
  /** What is asked so that the agent plays the role: fields of the body, and a path where it is not the published one. */
  asked(role: AgentRole): Asked;
}

/** `path` has `{agent_id}` and `{endpoint}` in it; `null`: the published one. */
export interface Asked {
  readonly body: Readonly<Record<string, unknown>>;
  readonly path: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const keyVariables: Readonly<Record<KeyRole, string>> = { main: "API_KEY", second: "API_KEY_SECOND" };

const agentVariables: Readonly<Record<AgentRole, string>> = {
  answering: "AGENT",
  streaming: "AGENT_STREAMING",
  slow: "AGENT_SLOW",
  slowStreaming: "AGENT_SLOW_STREAMING",
  failing: "AGENT_FAILING",
};

/** Reads the environment of a script. Throws an Error that names the variable and what it may be. */
export function readSettings(environment: Environment): Settings {
  const tier = readTier(environment.TIER);
  const asked = readJson<Partial<Record<AgentRole, Asked>>>("PLAYERS", environment.PLAYERS ?? "{}");
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
    asked: (role) => asked[role] ?? { body: {}, path: null },
  };
}

function readClient({ CLIENT_CERT: cert = "", CLIENT_KEY: key = "" }: Environment): Settings["client"] {
  if (cert === "" && key === "") return null;
  if (cert === "" || key === "") throw new Error("CLIENT_CERT and CLIENT_KEY belong together: give both, as PEM.");
  return { cert, key };
}

/** The published base address ends in `/v1` already; people give it with and without. */
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

/** An agent that answers streams, too, unless another one is named; the other roles cannot be guessed. */
function readAgent(environment: Environment, role: AgentRole): string {
  if (role === "answering") return sendable(environment.AGENT ?? "echo");
  if (role === "streaming") return sendable(environment.AGENT_STREAMING ?? environment.AGENT ?? "echo");
  return sendable(required(environment, agentVariables[role], `the id of an agent that is ${adjectives[role]}`));
}

function sendable(agent: string): string {
  if (agent === "." || agent === "..")
    throw new Error(`An agent is named "${agent}", which is taken out of every URL: name another one.`);
  return agent;
}

const adjectives = {
  slow: "slow to answer",
  slowStreaming: "slow to stream",
  failing: "sure to fail",
} as const;

function required(environment: Environment, name: string, what: string): string {
  const value = environment[name];
  if (value === undefined || value === "") throw new Error(`This scenario needs ${what}: give -e ${name}=….`);
  return value;
}
