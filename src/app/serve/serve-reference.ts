import { assertOpenFiles, watchOpenFiles } from "../../base/harness-limit.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { safeLine, line, UsageError } from "../../base/line.ts";
import { type Reference, type ReferenceOptions, startReference, type ReferenceKey } from "../../reference/reference.ts";
import { isLoopbackHost } from "../../reference/webhooks/address-guard.ts";
import { DataFolderProblem } from "../../reference/webhooks/disk-store.ts";
import { watchAgentFiles, hostAgents, type LoadedAgent, loadAgents, type ServeOptionNames } from "./agent-files.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { newAgentId } from "../../reference/agents.ts";
import { loopbackSources } from "../../reference/behaviour/deliveries.ts";
import { controlTokenHeader } from "../../reference/server/control.ts";
import { deploymentEvents } from "../../spec/events-and-errors.ts";
import type { ParsedTargetFile } from "../../target/target-file-schema.ts";
import { agentRoles } from "../../target/target.ts";

export interface ServeOptions extends ReferenceOptions {
  readonly host: string;
  readonly port: number;
  readonly controlToken: string;
  readonly agentFiles: readonly string[];
  readonly targetFile: string | null;
  readonly names: ServeOptionNames;
  readonly onAgentChange: (line: string) => void;
  /** Called with a message when the process has no file descriptor left, and so closes new connections. */
  readonly onOpenFilesLimit: (sentence: string) => void;
}

const atOpenFilesLimit =
  "The server has no file descriptor left, and closes new connections without a response: raise `ulimit -n`.";

/** Connections that the server must be able to hold open, for deliveries and for clients that test concurrency limits. */
const minConnections = 128;

export async function serveReference({
  agentFiles,
  targetFile,
  names,
  onAgentChange,
  onOpenFilesLimit,
  ...options
}: ServeOptions) {
  assertOpenFiles(minConnections);
  const loaded = loadAgents(agentFiles, names);
  const reference = await startServer({ ...options, auth: authOf(loaded, options.host) });
  try {
    const hosted = hostAgents(reference, loaded, names);
    if (targetFile !== null) writeTargetDocument(targetFile, targetDocument(reference, options.controlToken), names);
    const endFileWatch = watchAgentFiles(reference, hosted, names, onAgentChange);
    const endWatch = watchOpenFiles(() => onOpenFilesLimit(atOpenFilesLimit));
    const close = async (): Promise<void> => {
      endWatch();
      endFileWatch();
      await reference.close();
    };
    return { reference, hosted, close };
  } catch (error) {
    await reference.close();
    throw error;
  }
}

const authOf = (loaded: readonly LoadedAgent[], host: string): "keys" | "none" =>
  loaded.length > 0 && isLoopbackHost(host) && loaded.every(({ file }) => file.authType === "none") ? "none" : "keys";

async function startServer(
  options: ReferenceOptions & { readonly host: string; readonly port: number },
): Promise<Reference> {
  try {
    return await startReference(options);
  } catch (error) {
    if (error instanceof DataFolderProblem) throw new UsageError(safeLine(error.message));
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const address = `${options.host}:${options.port}`;
    if (code === "EADDRINUSE")
      throw new UsageError(line`Port ${address} is taken. Stop what listens there, or give port 0 for a free one.`);
    if (code === "EACCES")
      throw new UsageError(line`Port ${address} needs rights that this user does not have. Give one above 1023.`);
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new UsageError(line`${address} is not an address of this machine.`);
    throw error;
  }
}

/** Address on which a run listens for deliveries: a free port on loopback, since the server is on the same machine. */
const receiverAddress = "127.0.0.1:0";

function targetDocument(reference: Reference, token: string): ParsedTargetFile {
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
        // No wait is needed: the server completes all due deliveries before it responds to a clock advance.
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

/** Writes a target file that only its owner can read, because the file contains keys. */
function writeTargetDocument(path: string, document: ParsedTargetFile, { targetFile }: ServeOptionNames): void {
  try {
    replaceFile(path, `${JSON.stringify(document, null, 2)}\n`, 0o600);
  } catch (error) {
    throw new UsageError(line`${targetFile} cannot be written: ${path} (${errorCodeOrText(error)}).`);
  }
}
