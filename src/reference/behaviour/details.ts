import type { Agent } from "../agents.ts";
import { fieldsOf } from "../json-edit.ts";
import type { ReferenceKey } from "../keys.ts";
import { monthStartMs } from "../limits/account.ts";
import { usageCounts, isoTime, type UsageInput } from "./health-list-usage.ts";

/** What an account of an agent is made of. */
export interface AgentDetailsInput {
  readonly agent: Agent;
  readonly version: string;
  /** The item that the list has for it. */
  readonly listItem: unknown;
}

/** What a key has used; instants are Unix milliseconds. */
export interface KeyUsageInput extends UsageInput {
  readonly key: ReferenceKey;
  readonly lastUsedMs: number | null;
  readonly expiresAtMs: number | null;
}

/** Decisions about the endpoints whose answers the document does not show. Source: Endpoints 9 and 12. */
export interface DetailsBehaviour {
  agentDetailsBody(facts: AgentDetailsInput): unknown;
  keyUsageBody(facts: KeyUsageInput): unknown;
}

export const standardDetails: DetailsBehaviour = {
  agentDetailsBody: ({ agent, version, listItem }) => ({
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
  keyUsageBody: ({ key, hour, tokens, lastUsedMs, expiresAtMs, nowMs }) => ({
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
