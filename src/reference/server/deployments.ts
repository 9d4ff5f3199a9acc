import type { HealthStatus } from "../../spec/events.ts";
import { referenceAgents, type Agent } from "../agents.ts";
import { isoTime } from "../behaviour/health-list-usage.ts";
import type { HostingEvent } from "../webhooks/webhook.ts";
import type { ServerState } from "./state.ts";

/** A change of a deployment. Source: Events, "Webhook events". */
export type DeploymentChange =
  | { readonly kind: "created" | "updated" | "deleted"; readonly agentId: string }
  | { readonly kind: "health_changed"; readonly agentId: string; readonly health: HealthStatus };

/** Makes the event for a change of an agent's deployment. */
export function deploymentEvent(type: `deployment.${DeploymentChange["kind"]}`, agent: Agent): HostingEvent {
  const { id, version, health, deployment } = agent;
  const data = { deployment_id: deployment.id, version, status: health };
  return { type, agentId: id, deploymentId: deployment.id, data };
}

/**
 * Applies a change of a deployment and sends the webhook event for it. Returns the changed or deleted agent; `null` if
 * there is none.
 */
export function deploy({ agents, outbox, clock }: ServerState, change: DeploymentChange): Agent | null {
  const before = agents.get(change.agentId) ?? null;
  const agent = change.kind === "created" ? newAgent(change.agentId, clock.now()) : withChange(before, change);
  if (agent === null) return null;
  if (change.kind === "deleted") agents.delete(agent.id);
  else agents.set(agent.id, agent);
  outbox.emit(deploymentEvent(`deployment.${change.kind}`, agent));
  return agent;
}

/** Creates an agent that echoes its query. */
function newAgent(id: string, nowMs: number): Agent | null {
  const [echo] = referenceAgents;
  if (echo === undefined) return null;
  const deployment = { ...echo.deployment, id: `dep_${id}` };
  return { ...echo, id, name: id, createdAt: isoTime(nowMs), deployment };
}

function withChange(agent: Agent | null, change: DeploymentChange): Agent | null {
  if (agent === null) return null;
  if (change.kind === "updated") return { ...agent, version: incrementVersion(agent.version) };
  return change.kind === "health_changed"
    ? { ...agent, health: change.health, warnings: change.health === "degraded" ? ["its health was changed"] : [] }
    : agent;
}

/** Increments the number at the end of a version. Appends `.1` to a version that ends in no number. */
function incrementVersion(version: string): string {
  return /\d+$/.test(version) ? version.replace(/\d+$/, (last) => String(Number(last) + 1)) : `${version}.1`;
}
