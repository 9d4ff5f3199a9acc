import type { ServerState } from "../server/state.ts";
import { deploymentEvent } from "../server/deployments.ts";
import type { NewWebhook } from "../webhooks/webhook.ts";
import type { AgentFile } from "./agent-file.ts";
import { agentOfFile, fileOwner, webhooksOfFile } from "./file-agent.ts";
import { isoTime } from "../behaviour/reading.ts";

/** Why an agent is put into service: because the server starts, or because its file came or changed while it ran. */
export type HostingReason = "start" | "created" | "updated";

/** Puts the agent of a file into service under an id, or its next version, and makes its webhooks those of the file. */
export function hostFile(state: ServerState, file: AgentFile, id: string, reason: HostingReason): void {
  const { agents, outbox, clock } = state;
  const createdAt = agents.get(id)?.createdAt ?? isoTime(clock.now());
  const agent = agentOfFile(file, id, createdAt);
  agents.set(id, agent);
  subscribe(state, id, webhooksOfFile(file, id));
  if (reason !== "start") outbox.raise(deploymentEvent(`deployment.${reason}`, agent));
}

/** Takes an agent out of service; its own webhooks are the last to hear of it. */
export function withdrawFile(state: ServerState, id: string): void {
  const { agents, outbox } = state;
  const agent = agents.get(id);
  if (agent === undefined) return;
  agents.delete(id);
  outbox.raise(deploymentEvent("deployment.deleted", agent));
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
