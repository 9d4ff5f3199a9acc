import { errorCodeOrText } from "../../base/errors.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { newAgentId } from "../../reference/agents.ts";
import { loopbackSources } from "../../reference/behaviour/deliveries.ts";
import type { Reference, ReferenceKey } from "../../reference/reference.ts";
import { controlTokenHeader } from "../../reference/server/control.ts";
import { deploymentEvents } from "../../spec/events.ts";
import type { ParsedTargetFile } from "../../target/target-file-schema.ts";
import { agentRoles } from "../../target/target.ts";
import type { ServeOptionNames } from "./agent-files.ts";

/**
 * Address on which the harness's webhook receiver listens: a free port on loopback, because the reference server runs
 * on the same machine.
 */
const receiverAddress = "127.0.0.1:0";

/** Returns the content of a target file for a reference server. It enables every check. */
export function targetDocument(reference: Reference, token: string): ParsedTargetFile {
  const at = (path: string): string => new URL(path, reference.baseUrl).href;
  const headers = { [controlTokenHeader]: token };
  return {
    name: "reference server",
    baseUrl: reference.baseUrl,
    ...(reference.auth === "none"
      ? { auth: "none" as const, keys: {} }
      : { keys: Object.fromEntries(reference.keys.map((key) => [key.name, keyEntry(key)])) }),
    agents: agentsOf(reference),
    tiers: { enterprise: { ...reference.tiers.enterprise } },
    webhooks: { listen: receiverAddress, sources: [...loopbackSources] },
    triggers: Object.fromEntries(
      deploymentEvents.map((event) => [
        event,
        {
          method: "POST" as const,
          url: at("/control/deployments"),
          headers,
          body: { agent_id: agentForDeploymentEvent(reference, event), event: event.replace("deployment.", "") },
        },
      ]),
    ),
    ...(reference.hasVirtualClock && {
      clock: {
        advance: { method: "POST" as const, url: at("/clock/advance"), headers, body: { seconds: "${seconds}" } },
        // No time to settle: the reference server responds to an advance of its clock only after all effects of the
        // advance.
        settleMs: 0,
        agentsFollow: true,
      },
    }),
    freshness: {
      freshAt: new Date(reference.startedMs).toISOString(),
      start: reference.startId,
      ask: { method: "GET" as const, url: at("/control/keys"), headers },
    },
    signing: { secret: reference.signingSecret },
    paths: reference.paths,
  };
}

/**
 * Returns the id of the agent to create, delete or change for a deployment event. Only the agent that is created and
 * deleted is one of its own.
 */
function agentForDeploymentEvent({ agents }: Reference, event: (typeof deploymentEvents)[number]): string {
  return event === "deployment.created" || event === "deployment.deleted" ? newAgentId : agents.webhooked;
}

function agentsOf({ agents }: Reference): NonNullable<ParsedTargetFile["agents"]> {
  const known: Readonly<Record<string, string>> = { ...agents, slowStreaming: agents.slowStream };
  return Object.fromEntries(Object.keys(agentRoles).flatMap((role) => (known[role] ? [[role, known[role]]] : [])));
}

function keyEntry(key: ReferenceKey): ParsedTargetFile["keys"][string] {
  const isExpired = key.expiresInSeconds === 0;
  return {
    key: key.key,
    tier: key.tier,
    fresh: true,
    ...(isExpired && { expired: true }),
    ...(key.scope === "read-only" && { scope: key.scope }),
    ...(key.agents !== null && { agents: [...key.agents] }),
    ...(key.allowedIps !== null && { allowedIps: [...key.allowedIps] }),
    ...(key.expiresInSeconds !== null && !isExpired && { expiresInSeconds: key.expiresInSeconds }),
    ...(key.tokensUsedBefore > 0 && { nearQuota: true }),
  };
}

/**
 * Writes a target file. Only its owner can read the file, because it contains keys.
 *
 * @throws {UsageError} if it cannot be written
 */
export function writeTargetDocument(path: string, document: ParsedTargetFile, { targetFile }: ServeOptionNames): void {
  try {
    replaceFile(path, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new UsageError(line`${targetFile} cannot be written: ${path} (${errorCodeOrText(error)}).`);
  }
}
