import type { Agent } from "../agents.ts";
import type { ApiError } from "./errors.ts";
import type { Endpoint } from "../endpoint.ts";
import { fieldsOf, isoTime } from "../json-edit.ts";
import type { ReferenceKey } from "../keys.ts";
import { monthStartMs, type TokenCount } from "../limits/account.ts";
import type { WindowStatus } from "../limits/windows.ts";

export interface HealthInput {
  readonly agent: Agent;
  readonly version: string;
  readonly uptimeMs: number;
  readonly lastRequestMs: number | null;
}

/** The page of the list to send: `page` is its number, from 1; `limit` is its maximum size, from 1 to 100. */
export interface EffectivePage {
  readonly page: number;
  readonly limit: number;
}

export interface ListInput extends EffectivePage {
  readonly items: readonly unknown[];
  readonly total: number;
}

export interface UsageInput {
  readonly hour: WindowStatus;
  readonly minute: WindowStatus;
  readonly tokens: TokenCount;
  readonly nowMs: number;
}

const defaultPageLimit = 20;
const maxPageLimit = 100;

const dependencyStatus = { healthy: "healthy", degraded: "slow", unhealthy: "unhealthy" } as const;

const memoryPercent = { healthy: 41.5, degraded: 92.5, unhealthy: 99.5 } as const;

/** The reference server's standard behaviour for health, the list of agents, and usage. Source: Endpoints 3 to 5. */
export const standardHealthListUsage = {
  healthBody: ({ agent, version, uptimeMs, lastRequestMs }: HealthInput): unknown => ({
    status: agent.health,
    checks: {
      agent: { status: agent.health, response_time_ms: 12.5 },
      dependencies: { store: dependencyStatus[agent.health], model: "healthy" },
      resources: { memory_usage_percent: memoryPercent[agent.health], cpu_usage_percent: 7.25 },
    },
    version,
    uptime: uptimeMs / 1000,
    ...(lastRequestMs === null ? {} : { last_request: isoTime(lastRequestMs) }),
    ...(agent.warnings.length === 0 ? {} : { warnings: agent.warnings }),
  }),
  /** Whether running an agent through this endpoint changes `last_request` in the agent's health report. */
  updatesLastRequest: (_endpoint: Endpoint): boolean => true,
  /** Returns the page to send. An absent value becomes its default, and an invalid value the nearest valid one. */
  effectivePage: (page: number | undefined = 1, limit: number | undefined = defaultPageLimit): EffectivePage => ({
    page: Math.max(1, page),
    limit: Math.min(maxPageLimit, Math.max(1, limit)),
  }),
  validatePage: (_page: number | undefined, _limit: number | undefined, _total: number): ApiError | null => null,
  pageItems: (agents: readonly Agent[], { page, limit }: EffectivePage): readonly Agent[] =>
    agents.slice((page - 1) * limit, page * limit),
  listItem: (agent: Agent, version: string): unknown => ({
    agent_id: agent.id,
    agent_name: agent.name,
    description: agent.description,
    framework: agent.framework,
    version,
    status: agent.health,
  }),
  listBody: ({ items, page, limit, total }: ListInput): unknown => ({
    data: items,
    pagination: { page, limit, total, pages: Math.ceil(total / limit) },
  }),
  usageBody: ({ hour, tokens, nowMs }: UsageInput): unknown => ({
    period: isoTime(monthStartMs(nowMs)),
    ...usageCounts(hour, tokens),
  }),
};

const usageCounts = ({ limit, remaining }: WindowStatus, tokens: TokenCount): object => ({
  requests: { used: limit - remaining, limit, remaining },
  tokens: {
    used: Math.min(tokens.used, tokens.limit),
    limit: tokens.limit,
    remaining: Math.max(0, tokens.limit - tokens.used),
  },
});

export interface AgentDetailsInput {
  readonly agent: Agent;
  readonly version: string;
  readonly listItem: unknown;
}

export interface KeyUsageInput extends UsageInput {
  readonly key: ReferenceKey;
  readonly lastUsedMs: number | null;
  readonly expiresAtMs: number | null;
}

/** The reference server's standard response bodies for agent details and key usage. Source: Endpoints 9 and 12. */
export const standardDetails = {
  agentDetailsBody: ({ agent, version, listItem }: AgentDetailsInput): unknown => ({
    ...fieldsOf(listItem),
    agent_id: agent.id,
    version,
    lifecycle: "ready",
    created_at: agent.createdAt,
    entrypoints: agent.entrypoints.map(({ file, module, tag }) => ({ file, module, tag })),
    deployment: {
      deployment_id: agent.deployment.id,
      timeout: agent.deployment.timeoutMs / 1000,
      memory: agent.deployment.memory,
    },
  }),
  keyUsageBody: ({ key, hour, tokens, lastUsedMs, expiresAtMs, nowMs }: KeyUsageInput): unknown => ({
    key: {
      name: key.name,
      tier: key.tier,
      scope: key.scope,
      agents: key.agents,
      allowed_ips: key.allowedIps,
      expires_at: expiresAtMs === null ? null : isoTime(expiresAtMs),
    },
    period: isoTime(monthStartMs(nowMs)),
    ...usageCounts(hour, tokens),
    last_used: lastUsedMs === null ? null : isoTime(lastUsedMs),
  }),
};
