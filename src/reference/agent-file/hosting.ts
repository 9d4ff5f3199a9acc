import { type Agent, plainAgent } from "../agents.ts";
import { isoTime } from "../behaviour/health-list-usage.ts";
import { deploymentEvent } from "../server/deployments.ts";
import type { ServerState } from "../server/state.ts";
import { fileOwner, type NewWebhook } from "../webhooks/webhook.ts";
import type { AgentFile } from "./agent-file.ts";

/**
 * Makes the agent that a configuration file describes. The server cannot run the file's code, so the agent echoes the
 * query and names the entrypoint that would have run. `loadedAt` (ISO 8601) is used if the file has no `created_at`.
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

/** Makes an agent id for a file without one, from the agent's name: lower-case letters, digits and hyphens. */
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

/**
 * Returns the webhooks of a configuration file. Their deliveries are not signed, because the document defines no secret
 * for such webhooks.
 */
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

/**
 * Why an agent is put into service: the server starts (`start`), or the agent's file is new (`created`) or has changed
 * (`updated`).
 */
export type HostingReason = "start" | "created" | "updated";

/**
 * Puts the agent of a file into service, in place of an earlier agent with this id. Replaces that agent's webhooks by
 * those of the file.
 */
export function hostAgentFile(state: ServerState, file: AgentFile, id: string, reason: HostingReason): void {
  const { agents, outbox, clock } = state;
  const createdAt = agents.get(id)?.createdAt ?? isoTime(clock.now());
  const agent = agentFromFile(file, id, createdAt);
  agents.set(id, agent);
  replaceWebhooks(state, id, webhooksFromFile(file, id));
  if (reason !== "start") outbox.emit(deploymentEvent(`deployment.${reason}`, agent));
}

/** Takes an agent out of service. Its webhooks are retired only after they have got the event `deployment.deleted`. */
export function removeHostedAgent(state: ServerState, id: string): void {
  const { agents, outbox } = state;
  const agent = agents.get(id);
  if (agent === undefined) return;
  agents.delete(id);
  outbox.emit(deploymentEvent("deployment.deleted", agent));
  replaceWebhooks(state, id, []);
}

/**
 * Adds the missing webhooks of an agent and retires those that its file no longer has. After a restart with a data
 * folder, no webhook is added twice.
 */
function replaceWebhooks({ outbox }: ServerState, agentId: string, wanted: readonly NewWebhook[]): void {
  const identityOf = ({ url, events, headers }: NewWebhook) => JSON.stringify([url, events, Object.entries(headers)]);
  const missing = new Map(wanted.map((webhook) => [identityOf(webhook), webhook]));
  for (const webhook of outbox.webhooks()) {
    if (webhook.owner !== fileOwner || webhook.agentId !== agentId) continue;
    if (!missing.delete(identityOf(webhook))) outbox.retire(webhook.id);
  }
  for (const webhook of missing.values()) outbox.add(webhook);
}
