import { basename, resolve } from "node:path";

import { errorCodeOrText } from "../../base/errors.ts";
import { type AgentFile, generatedId, readAgentFile, type Reference } from "../../reference/reference.ts";
import { UsageError } from "../../base/usage-error.ts";
import { NoRegularFile, readAgentText } from "./agent-text.ts";
import { type FileChange, type FileWatch, watchFile } from "./file-watch.ts";

/** An agent configuration file as it was when the server started. */
export interface LoadedAgent {
  readonly path: string;
  readonly content: string;
  readonly file: AgentFile;
}

/**
 * Reads agent configuration files.
 *
 * @throws {UsageError} with a line for each thing that is wrong in any of them.
 */
export function loadAgents(paths: readonly string[]): readonly LoadedAgent[] {
  const problems: string[] = [];
  const loaded = paths.flatMap((given): LoadedAgent[] => {
    const path = resolve(given);
    const content = textOf(path);
    const reading = readAgentFile(content);
    if (reading.kind === "agent") return [{ path, content, file: reading.file }];
    problems.push(...reading.problems.map((problem) => `--agent ${given}: ${problem}`));
    return [];
  });
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return loaded;
}

function textOf(path: string): string {
  try {
    return readAgentText(path);
  } catch (error) {
    if (error instanceof NoRegularFile) throw new UsageError(`--agent cannot be read: ${path} is no regular file.`);
    const why = errorCodeOrText(error);
    throw new UsageError(`--agent cannot be read: ${path} (${why}).`);
  }
}

/** An agent in service, by its file. */
export interface HostedAgent extends LoadedAgent {
  readonly id: string;
}

/**
 * Puts the agents into service.
 *
 * @throws {UsageError} where an id that a file gives is taken, or nothing is delivered to one of its addresses.
 */
export function hostAgents(reference: Reference, loaded: readonly LoadedAgent[]): readonly HostedAgent[] {
  return loaded.map((agent) => {
    const [refused] = refusedEndpoints(reference, agent.file);
    if (refused !== undefined) throw new UsageError(`--agent ${agent.path}: ${refused}`);
    const id = idFor(reference, agent);
    reference.hostAgent(agent.file, id, "start");
    return { ...agent, id };
  });
}

function idFor(reference: Reference, { file, path }: LoadedAgent): string {
  const { agentId, agentName } = file;
  if (agentId === null) return freeId(reference, generatedId(agentName));
  if (!reference.hasAgent(agentId)) return agentId;
  throw new UsageError(`--agent ${path}: agent_id is "${agentId}", which another agent has; it must be another.`);
}

function freeId(reference: Reference, wanted: string): string {
  for (let number = 2, id = wanted; ; number += 1) {
    if (!reference.hasAgent(id)) return id;
    id = `${wanted}-${number}`;
  }
}

function refusedEndpoints(reference: Reference, { endpoints }: AgentFile): readonly string[] {
  return endpoints.flatMap(({ url }, at) => {
    const why = reference.addressRefusal(url);
    if (why === null) return [];
    return [`webhooks.endpoints[${at}].url is "${url}", but ${why}; see --allow-deliveries-to`];
  });
}

/** Follows the files while the server runs: an edit updates the agent, a removal takes it away, a new file brings it back. */
export function followAgents(
  reference: Reference,
  hosted: readonly HostedAgent[],
  say: (line: string) => void,
): FileWatch {
  const watches = hosted.map((agent) =>
    watchFile(agent.path, agent.content, (change) => say(applied(reference, agent, change))),
  );
  return { close: () => watches.forEach((watch) => watch.close()) };
}

/** Does what a change asks for, and says in one line what came of it. The agent keeps the id that it has. */
function applied(reference: Reference, { path, id }: HostedAgent, change: FileChange): string {
  const name = basename(path);
  const isThere = reference.hasAgent(id);
  if (change.kind === "gone") {
    reference.removeAgent(id);
    return `${name} was removed: agent ${id} is taken out of service.`;
  }
  const reading = readAgentFile(change.content);
  const problems = reading.kind === "wrong" ? reading.problems : hostingProblems(reference, reading.file, id);
  if (reading.kind === "wrong" || problems.length > 0) {
    const rest = isThere ? "the last good one goes on" : "the agent stays out of service";
    return `${name} is wrong, ${rest}: ${problems.join("; ")}.`;
  }
  const { file } = reading;
  reference.hostAgent(file, id, isThere ? "updated" : "created");
  return `${name} ${isThere ? "was changed" : "is back"}: agent ${id} has version ${file.version}.`;
}

function hostingProblems(reference: Reference, file: AgentFile, id: string): readonly string[] {
  const moved = file.agentId !== null && file.agentId !== id;
  return [
    ...(moved ? [`agent_id is "${file.agentId}"; it must stay "${id}" while the server runs`] : []),
    ...refusedEndpoints(reference, file),
  ];
}
