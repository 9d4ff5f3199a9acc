import { assertOpenFiles, watchOpenFiles } from "../../base/open-files.ts";
import { UsageError } from "../../base/usage-error.ts";
import { type Reference, type ReferenceOptions, startReference } from "../../reference/reference.ts";
import { listensOnLoopback } from "../../reference/webhooks/address-guard.ts";
import { DataFolderProblem } from "../../reference/webhooks/disk-store.ts";
import {
  watchAgentFiles,
  hostAgents,
  type HostedAgent,
  type LoadedAgent,
  loadAgents,
  type ServeOptionNames,
} from "./agent-files.ts";
import { targetDocument, writeTargetDocument } from "./target-document.ts";
import { line, fromOutside } from "../../base/line.ts";

export interface ServeOptions extends ReferenceOptions {
  readonly host: string;
  readonly port: number;
  readonly controlToken: string;
  /** Paths of the agent configuration files to host. */
  readonly agentFiles: readonly string[];
  /** Path of a target file to write, which describes this server; `null` to write none. */
  readonly targetFile: string | null;
  readonly names: ServeOptionNames;
  /** Called with a line of text for each change of an agent file. */
  readonly onAgentChange: (line: string) => void;
  /**
   * Called with a sentence when this process has reached its limit of open files. Until some are closed, the server
   * refuses new connections.
   */
  readonly onOpenFilesLimit: (sentence: string) => void;
}

/** A running reference server that hosts the agents of its agent files. */
export interface ServingReference {
  readonly reference: Reference;
  readonly hosted: readonly HostedAgent[];
  readonly close: () => Promise<void>;
}

const atOpenFilesLimit =
  "The server has no file descriptor left, and closes new connections without a response: raise `ulimit -n`.";

/**
 * Number of connections for which file descriptors must be available: for clients that test concurrency limits, and for
 * webhook deliveries.
 */
const minConnections = 128;

/**
 * Starts the reference server with the agents in agent files. Later changes of these files change the agents.
 *
 * @throws {UsageError} if a file or an address cannot be used
 * @throws {HarnessLimit} if this process can open too few connections
 */
export async function serveReference({
  agentFiles,
  targetFile,
  names,
  onAgentChange,
  onOpenFilesLimit,
  ...options
}: ServeOptions): Promise<ServingReference> {
  assertOpenFiles(minConnections);
  const loaded = loadAgents(agentFiles, names);
  const reference = await startWithAgents({ ...options, auth: authOf(loaded, options.host) });
  try {
    const hosted = hostAgents(reference, loaded, names);
    if (targetFile !== null) writeTargetDocument(targetFile, targetDocument(reference, options.controlToken), names);
    const watch = watchAgentFiles(reference, hosted, names, onAgentChange);
    const endWatch = watchOpenFiles(() => onOpenFilesLimit(atOpenFilesLimit));
    const close = async (): Promise<void> => {
      endWatch();
      watch.close();
      await reference.close();
    };
    return { reference, hosted, close };
  } catch (error) {
    await reference.close();
    throw error;
  }
}

/** Whether the server asks for keys: not if it is local, and the `auth_settings.type` of each agent file is `none`. */
const authOf = (loaded: readonly LoadedAgent[], host: string): "keys" | "none" =>
  loaded.length > 0 && listensOnLoopback(host) && loaded.every(({ file }) => file.authType === "none")
    ? "none"
    : "keys";

async function startWithAgents(
  options: ReferenceOptions & { readonly host: string; readonly port: number },
): Promise<Reference> {
  try {
    return await startReference(options);
  } catch (error) {
    if (error instanceof DataFolderProblem) throw new UsageError(fromOutside(error.message));
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
