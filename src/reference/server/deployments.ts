import type { HealthStatus } from "../../spec/events-and-errors.ts";
import { isoTime } from "../json-edit.ts";
import type { AgentFile } from "../agent-file.ts";
import { createAgent, type Agent } from "../agents.ts";
import { fileOwner, type HostingEvent, type NewWebhook } from "../webhooks/store.ts";
import type { ServerState } from "./state.ts";

/** A change of an agent's deployment, such as its deletion. Source: Events, "Webhook events". */
export type DeploymentChange =
  | { readonly kind: "created" | "updated" | "deleted"; readonly agentId: string }
  | { readonly kind: "health_changed"; readonly agentId: string; readonly health: HealthStatus };

function deploymentEvent(type: `deployment.${DeploymentChange["kind"]}`, agent: Agent): HostingEvent {
  const { id, version, health, deployment } = agent;
  const data = { deployment_id: deployment.id, version, status: health };
  return { type, agentId: id, deploymentId: deployment.id, data };
}

export function deploy({ agents, outbox, clock }: ServerState, change: DeploymentChange): Agent | null {
  const before = agents.get(change.agentId) ?? null;
  const agent =
    change.kind === "created"
      ? createAgent(change.agentId, { createdAt: isoTime(clock.now()) })
      : withChange(before, change);
  if (agent === null) return null;
  if (change.kind === "deleted") agents.delete(agent.id);
  else agents.set(agent.id, agent);
  outbox.emit(deploymentEvent(`deployment.${change.kind}`, agent));
  return agent;
}

function withChange(agent: Agent | null, change: DeploymentChange): Agent | null {
  if (agent === null) return null;
  if (change.kind === "updated") return { ...agent, version: incrementVersion(agent.version) };
  return change.kind === "health_changed"
    ? { ...agent, health: change.health, warnings: change.health === "degraded" ? ["its health was changed"] : [] }
    : agent;
}

function incrementVersion(version: string): string {
  return /\d+$/.test(version) ? version.replace(/\d+$/, (last) => String(Number(last) + 1)) : `${version}.1`;
}

/** Makes an agent from a configuration file. The agent only repeats the query: its code cannot run here. */
export function agentFromFile(file: AgentFile, id: string, loadedAt: string): Agent {
  const functions = new Map(file.entrypoints.map(({ tag, file: path, module }) => [tag, `${path}#${module}`]));
  return createAgent(id, {
    name: file.agentName,
    description: file.description ?? "",
    framework: file.framework,
    version: file.version,
    createdAt: file.createdAt ?? loadedAt,
    entrypoints: file.entrypoints,
    deployment: { id: `dep_${id}`, timeoutMs: file.timeoutSeconds * 1000, memory: file.memory },
    respond: (query, _conversation, tag) => `Entrypoint ${tag} (${functions.get(tag) ?? "none"}) was given: ${query}`,
  });
}

export function agentIdFromName(agentName: string): string {
  const slug = agentName
    .normalize("NFKD")
    .replaceAll(/\p{Mark}/gu, "")
    .replaceAll("ß", "ss")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  return slug === "" ? "agent" : slug;
}

/** Returns the webhooks of a configuration file. They have no secret: the file format has no field for it. */
export function webhooksFromFile(file: AgentFile, agentId: string): readonly NewWebhook[] {
  return file.endpoints.map((endpoint) => ({ ...endpoint, agentId, secret: null, owner: fileOwner }));
}

/** Why an agent is loaded: server start, new file or changed file. */
export type HostingReason = "start" | "created" | "updated";

export function hostAgentFile(state: ServerState, file: AgentFile, id: string, reason: HostingReason): void {
  const { agents, outbox, clock } = state;
  const createdAt = agents.get(id)?.createdAt ?? isoTime(clock.now());
  const agent = agentFromFile(file, id, createdAt);
  agents.set(id, agent);
  replaceWebhooks(state, id, webhooksFromFile(file, id));
  if (reason !== "start") outbox.emit(deploymentEvent(`deployment.${reason}`, agent));
}

/** Removes an agent and the webhooks of its configuration file. These webhooks still get `deployment.deleted`. */
export function removeHostedAgent(state: ServerState, id: string): void {
  const { agents, outbox } = state;
  const agent = agents.get(id);
  if (agent === undefined) return;
  agents.delete(id);
  outbox.emit(deploymentEvent("deployment.deleted", agent));
  replaceWebhooks(state, id, []);
}

function replaceWebhooks({ outbox }: ServerState, agentId: string, wanted: readonly NewWebhook[]): void {
  const identityOf = ({ url, events, headers }: NewWebhook) => JSON.stringify([url, events, Object.entries(headers)]);
  const missing = new Map(wanted.map((webhook) => [identityOf(webhook), webhook]));
  for (const webhook of outbox.webhooks()) {
    if (webhook.owner !== fileOwner || webhook.agentId !== agentId) continue;
    if (!missing.delete(identityOf(webhook))) outbox.retire(webhook.id);
  }
  for (const webhook of missing.values()) outbox.add(webhook);
}
