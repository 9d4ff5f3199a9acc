import { type Agent, plainAgent } from "../agents.ts";
import { isoTime } from "../behaviour/health-list-usage.ts";
import { deploymentEvent } from "../server/deployments.ts";
import type { ServerState } from "../server/state.ts";
import { fileOwner, type NewWebhook } from "../webhooks/webhook.ts";
import type { AgentFile } from "./agent-file.ts";

/**
 * The agent of a configuration file. The code of its entrypoints is its author's, so this one echoes, and says which
 * entrypoint would have run. `loadedAt` (ISO 8601) is when it was created, where the file does not say.
 */
export function agentFromFile(file: AgentFile, id: string, loadedAt: string): Agent {
  const functions = new Map(file.entrypoints.map(({ tag, file: path, module }) => [tag, `${path}#${module}`]));
  return {
    ...plainAgent,
    id,
    name: file.agentName,
    description: file.description ?? "",
    framework: file.framework,
    version: file.version,
    createdAt: file.createdAt ?? loadedAt,
    entrypoints: file.entrypoints,
    deployment: { id: `dep_${id}`, timeoutMs: file.timeoutSeconds * 1000, memory: file.memory },
    respond: (query, _conversation, tag) => `Entrypoint ${tag} (${functions.get(tag) ?? "none"}) was given: ${query}`,
  };
}

/** An id for a file that has none: its agent's name, in the letters that a path is made of. */
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

/** The webhooks of a configuration file. The document gives them no secret, so their deliveries are not signed. */
export function webhooksFromFile(file: AgentFile, agentId: string): readonly NewWebhook[] {
  return file.endpoints.map(({ url, events, headers }) => ({
    url,
    events,
    headers,
    agentId,
    secret: null,
    owner: fileOwner,
  }));
}

/** Why an agent is put into service: because the server starts, or because its file came or changed while it ran. */
export type HostingReason = "start" | "created" | "updated";

/** Puts the agent of a file into service under an id, or its next version, and makes its webhooks those of the file. */
export function hostAgentFile(state: ServerState, file: AgentFile, id: string, reason: HostingReason): void {
  const { agents, outbox, clock } = state;
  const createdAt = agents.get(id)?.createdAt ?? isoTime(clock.now());
  const agent = agentFromFile(file, id, createdAt);
  agents.set(id, agent);
  subscribe(state, id, webhooksFromFile(file, id));
  if (reason !== "start") outbox.emit(deploymentEvent(`deployment.${reason}`, agent));
}

/** Takes an agent out of service; its own webhooks are the last to hear of it. */
export function removeHostedAgent(state: ServerState, id: string): void {
  const { agents, outbox } = state;
  const agent = agents.get(id);
  if (agent === undefined) return;
  agents.delete(id);
  outbox.emit(deploymentEvent("deployment.deleted", agent));
  subscribe(state, id, []);
}

/** Keeps the webhooks that the file still has, so that after a restart with kept state none is there twice. */
function subscribe({ outbox }: ServerState, agentId: string, wanted: readonly NewWebhook[]): void {
  const nameOf = ({ url, events, headers }: NewWebhook) => JSON.stringify([url, events, Object.entries(headers)]);
  const missing = new Map(wanted.map((webhook) => [nameOf(webhook), webhook]));
  for (const webhook of outbox.webhooks()) {
    if (webhook.owner !== fileOwner || webhook.agentId !== agentId) continue;
    if (!missing.delete(nameOf(webhook))) outbox.retire(webhook.id);
  }
  for (const webhook of missing.values()) outbox.add(webhook);
}
