import { healthStatuses, type HealthStatus } from "../../interface/events.ts";
import { referenceAgents, type Agent } from "../agents.ts";
import { isoTime } from "../behaviour/reading.ts";
import { fieldTrouble, trouble } from "../trouble.ts";
import type { HostingEvent } from "../webhooks/webhook.ts";
import { failed, ok, type Answer } from "./answer.ts";
import type { ServerState } from "./state.ts";

/** What may happen to a deployment. Source: Events, "Webhook events". */
export type DeploymentChange =
  | { readonly kind: "created" | "updated" | "deleted"; readonly agentId: string }
  | { readonly kind: "health_changed"; readonly agentId: string; readonly health: HealthStatus };

/** The event that tells of a change to an agent's deployment. */
export function deploymentEvent(type: `deployment.${DeploymentChange["kind"]}`, agent: Agent): HostingEvent {
  const { id, version, health, deployment } = agent;
  const data = { deployment_id: deployment.id, version, status: health };
  return { type, agentId: id, deploymentId: deployment.id, data };
}

/** Makes a change happen and tells webhooks of it. Returns the agent as it then is, or was; `null` where there is none. */
export function deploy({ agents, outbox, clock }: ServerState, change: DeploymentChange): Agent | null {
  const before = agents.get(change.agentId) ?? null;
  const agent = change.kind === "created" ? newcomer(change.agentId, clock.now()) : changed(before, change);
  if (agent === null) return null;
  if (change.kind === "deleted") agents.delete(agent.id);
  else agents.set(agent.id, agent);
  outbox.raise(deploymentEvent(`deployment.${change.kind}`, agent));
  return agent;
}

/** Answers a call that changes a deployment; this server's own, outside the interface. */
export function control(state: ServerState, body: unknown): Answer {
  const { agent_id: agentId, event, status = null } = { ...(typeof body === "object" ? body : {}) } as Fields;
  if (typeof agentId !== "string" || agentId === "")
    return failed(fieldTrouble("invalid-input", "agent_id", "must be a string that is not empty"));
  const before = state.agents.get(agentId);
  const change = changeOf(event, agentId, status ?? otherHealth(before));
  if (change === null) {
    const reason = `must be created, updated, deleted, or health_changed with a status of ${healthStatuses.join(", ")}`;
    return failed(fieldTrouble("invalid-input", "event", reason));
  }
  const agent = deploy(state, change);
  if (agent === null) return failed(trouble("agent-not-found", "No agent has this id."));
  const { version, health, deployment } = agent;
  return ok({ agent_id: agentId, event, deployment_id: deployment.id, version, status: health });
}

interface Fields {
  readonly agent_id?: unknown;
  readonly event?: unknown;
  readonly status?: unknown;
}

function changeOf(event: unknown, agentId: string, status: unknown): DeploymentChange | null {
  if (event === "created" || event === "updated" || event === "deleted") return { kind: event, agentId };
  const health = healthStatuses.find((known) => known === status);
  return event === "health_changed" && health !== undefined ? { kind: event, agentId, health } : null;
}

/** A health that is surely a change. */
function otherHealth(agent: Agent | undefined): HealthStatus {
  return agent?.health === "healthy" ? "degraded" : "healthy";
}

/** An agent that echoes. */
function newcomer(id: string, nowMs: number): Agent | null {
  const [echo] = referenceAgents;
  if (echo === undefined) return null;
  const deployment = { ...echo.deployment, id: `dep_${id}` };
  return { ...echo, id, name: id, createdAt: isoTime(nowMs), deployment };
}

function changed(agent: Agent | null, change: DeploymentChange): Agent | null {
  if (agent === null) return null;
  if (change.kind === "updated") return { ...agent, version: raised(agent.version) };
  return change.kind === "health_changed"
    ? { ...agent, health: change.health, warnings: change.health === "degraded" ? ["its health was changed"] : [] }
    : agent;
}

/** The version whose last number is one higher; `.1` is added where it ends in none. */
function raised(version: string): string {
  return /\d+$/.test(version) ? version.replace(/\d+$/, (last) => String(Number(last) + 1)) : `${version}.1`;
}
