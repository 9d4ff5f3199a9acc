import { watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";

import { errorCodeOrText } from "../../base/errors.ts";
import { joinLines, line, type Line, UsageError } from "../../base/line.ts";
import { NotARegularFile, readRegularFile } from "../../base/read-file.ts";
import { type Notation, notationOf } from "../../base/source/source.ts";
import {
  type AgentFile,
  agentIdFromName,
  maxAgentFileBytes,
  readAgentFile,
  type Reference,
} from "../../reference/reference.ts";

export interface ServeOptionNames {
  readonly agentFile: string;
  readonly allowDeliveriesTo: string;
  readonly targetFile: string;
}

export interface LoadedAgent {
  readonly path: string;
  readonly content: string;
  readonly file: AgentFile;
}

export interface HostedAgent extends LoadedAgent {
  readonly id: string;
}

export function loadAgents(paths: readonly string[], { agentFile: option }: ServeOptionNames): readonly LoadedAgent[] {
  const problems: Line[] = [];
  const loaded = paths.flatMap((given): LoadedAgent[] => {
    const path = resolve(given);
    const content = readOrThrow(path, option);
    const reading = readAgentFile(content, agentNotationOf(path));
    if (reading.kind === "agent") return [{ path, content, file: reading.file }];
    problems.push(...reading.problems.map((problem) => line`${option} ${given}: ${problem}`));
    return [];
  });
  if (problems.length > 0) throw new UsageError(joinLines(problems, "\n"));
  return loaded;
}

const agentNotationOf = (path: string): Notation => notationOf(path) ?? "JSON";

function readOrThrow(path: string, option: string): string {
  try {
    return readRegularFile(path, maxAgentFileBytes + 1);
  } catch (error) {
    if (error instanceof NotARegularFile)
      throw new UsageError(line`${option} cannot be read: ${path} is not a regular file.`);
    throw new UsageError(line`${option} cannot be read: ${path} (${errorCodeOrText(error)}).`);
  }
}

export function hostAgents(
  reference: Reference,
  loaded: readonly LoadedAgent[],
  names: ServeOptionNames,
): readonly HostedAgent[] {
  return loaded.map((agent) => {
    const [problem] = endpointProblems(reference, agent.file, names);
    if (problem !== undefined) throw new UsageError(line`${names.agentFile} ${agent.path}: ${problem}`);
    const id = chooseAgentId(reference, agent, names.agentFile);
    reference.hostAgent(agent.file, id, "start");
    return { ...agent, id };
  });
}

function chooseAgentId(
  reference: Reference,
  { file: { agentId, agentName }, path }: LoadedAgent,
  option: string,
): string {
  if (agentId === null) return unusedAgentId(reference, agentIdFromName(agentName));
  if (!reference.hasAgent(agentId)) return agentId;
  throw new UsageError(line`${option} ${path}: agent_id is "${agentId}", which another agent has; choose another.`);
}

function unusedAgentId(reference: Reference, wanted: string): string {
  for (let number = 2, id = wanted; ; number += 1) {
    if (!reference.hasAgent(id)) return id;
    id = `${wanted}-${number}`;
  }
}

function endpointProblems(
  reference: Reference,
  { endpoints }: AgentFile,
  { allowDeliveriesTo }: ServeOptionNames,
): readonly string[] {
  return endpoints.flatMap(({ url }, index) => {
    const reason = reference.addressRefusal(url);
    if (reason === null) return [];
    return [`webhooks.endpoints[${index}].url is "${url}", but ${reason}; see ${allowDeliveriesTo}`];
  });
}

export function watchAgentFiles(
  reference: Reference,
  hosted: readonly HostedAgent[],
  names: ServeOptionNames,
  print: (line: string) => void,
): () => void {
  const watches = hosted.map((agent) =>
    watchFile(agent.path, agent.content, (change) => print(applyChange(reference, agent, change, names))),
  );
  return () => watches.forEach((close) => close());
}

function applyChange(
  reference: Reference,
  { path, id }: HostedAgent,
  change: FileChange,
  names: ServeOptionNames,
): string {
  const name = basename(path);
  const isInService = reference.hasAgent(id);
  if (change.kind === "gone") {
    reference.removeAgent(id);
    return `${name} was removed: agent ${id} is taken out of service.`;
  }
  const reading = readAgentFile(change.content, agentNotationOf(path));
  const problems = reading.kind === "wrong" ? reading.problems : changeProblems(reference, reading.file, id, names);
  if (reading.kind === "wrong" || problems.length > 0) {
    const effect = isInService ? "the last valid version stays in service" : "the agent stays out of service";
    return `${name} is wrong, ${effect}: ${problems.join("; ")}.`;
  }
  const { file } = reading;
  reference.hostAgent(file, id, isInService ? "updated" : "created");
  return `${name} ${isInService ? "was changed" : "is back"}: agent ${id} has version ${file.version}.`;
}

function changeProblems(reference: Reference, file: AgentFile, id: string, names: ServeOptionNames): readonly string[] {
  const hasOtherId = file.agentId !== null && file.agentId !== id;
  return [
    ...(hasOtherId ? [`agent_id is "${file.agentId}"; it must stay "${id}" while the server runs`] : []),
    ...endpointProblems(reference, file, names),
  ];
}

type FileChange = { readonly kind: "content"; readonly content: string } | { readonly kind: "gone" };

/** Time without change events after which a changed file is read. Editors save a file in several steps. */
const debounceMs = 120;
/** Time for which a file may be missing before it counts as removed. Some editors delete a file and write it again. */
const removalGraceMs = 400;
/** Interval at which a file is read without a change event, because some file systems send no events. */
const pollIntervalMs = 2000;

/** Reports each change of a file to `onChange`. Watches the file's folder, because many editors replace the file. */
function watchFile(path: string, content: string, onChange: (change: FileChange) => void): () => void {
  let known: string | null = content;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const checkAfter = (ms: number, isSecondCheck = false): void => {
    clearTimeout(timer);
    timer = setTimeout(() => check(isSecondCheck), ms);
  };
  const check = (isSecondCheck: boolean): void => {
    const current = readFileIfPresent(path);
    if (isClosed || current === known) return;
    if (current === null && !isSecondCheck) return checkAfter(removalGraceMs, true);
    known = current;
    onChange(current === null ? { kind: "gone" } : { kind: "content", content: current });
  };
  const stopWatching = watchFolder(dirname(path), () => checkAfter(debounceMs));
  const interval = setInterval(() => check(false), pollIntervalMs).unref();
  return () => {
    isClosed = true;
    clearTimeout(timer);
    clearInterval(interval);
    stopWatching();
  };
}

function watchFolder(folder: string, onChange: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    watcher.on("error", () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}

function readFileIfPresent(path: string): string | null {
  try {
    return readRegularFile(path, maxAgentFileBytes + 1);
  } catch {
    return null;
  }
}
