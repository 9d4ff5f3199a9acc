import { type Agent, plain } from "../agents.ts";
import type { NewWebhook } from "../webhooks/webhook.ts";
import type { AgentFile } from "./agent-file.ts";

/** Who owns the webhooks of agent files; no key does. */
export const fileOwner = "file";

/**
 * The agent of a configuration file. The code of its entrypoints is its author's, so this one echoes, and says which
 * entrypoint would have run. `loadedAt` (ISO 8601) is when it was created, where the file does not say.
 */
export function agentOfFile(file: AgentFile, id: string, loadedAt: string): Agent {
  const functions = new Map(file.entrypoints.map(({ tag, file: path, module }) => [tag, `${path}#${module}`]));
  return {
    ...plain,
    id,
    name: file.agentName,
    description: file.description ?? "",
    framework: file.framework,
    version: file.version,
    createdAt: file.createdAt ?? loadedAt,
    entrypoints: file.entrypoints,
    deployment: { id: `dep_${id}`, timeoutMs: file.timeoutSeconds * 1000, memory: file.memory },
    say: (query, _conversation, tag) => `Entrypoint ${tag} (${functions.get(tag) ?? "none"}) was given: ${query}`,
  };
}

/** An id for a file that has none: its agent's name, in the letters that a path is made of. */
export function generatedId(agentName: string): string {
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
export function webhooksOfFile(file: AgentFile, agentId: string): readonly NewWebhook[] {
  return file.endpoints.map(({ url, events, headers }) => ({
    url,
    events,
    headers,
    agentId,
    secret: null,
    owner: fileOwner,
  }));
}
