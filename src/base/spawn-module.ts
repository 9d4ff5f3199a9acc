import { type ChildProcess, fork, type ForkOptions } from "node:child_process";
import { getAsset, isSea } from "node:sea";
import { isMainThread, Worker, type WorkerOptions } from "node:worker_threads";

// Modules that run in a thread or a process of their own: a file beside the one that asks for it, or a part of the one executable file.

/** The asset of an executable file that has its code. */
export const codeAsset = "code.cjs";

/** Starts a module beside the one that asks in a thread of its own. */
export const startWorker = (asking: string, name: string, options: WorkerOptions = {}): Worker =>
  isSea()
    ? new Worker(getAsset(codeAsset, "utf8"), { ...options, eval: true, argv: [partMark + name] })
    : new Worker(moduleBeside(asking, name), options);

interface ProcessOptions extends ForkOptions {
  /** What NODE_OPTIONS takes as well. */
  readonly execArgv: string[];
}

/** Starts a module beside the one that asks in a process of its own. */
export function startProcess(asking: string, name: string, options: ProcessOptions): ChildProcess {
  if (!isSea()) return fork(moduleBeside(asking, name), [], options);
  // An executable file takes all arguments for its own.
  const nodeOptions = [process.env["NODE_OPTIONS"] ?? "", ...options.execArgv].join(" ").trim();
  const env = { ...process.env, NODE_OPTIONS: nodeOptions };
  return fork(partMark + name, [], { ...options, execArgv: [], env });
}

const partMark = "part of the conformance executable: ";

/** The module that this thread or process of an executable file was started for; `null` where a person started it. */
export function requestedModule(): string | null {
  const isStartedByUs = !isMainThread || process.send !== undefined;
  const [, , argument = ""] = process.argv;
  return isStartedByUs && argument.startsWith(partMark) ? argument.slice(partMark.length) : null;
}

/** Its ending is the asking module's, which is another in the sources than in what is built of them. */
const moduleBeside = (asking: string, name: string): URL =>
  new URL(`./${name}${asking.endsWith(".ts") ? ".ts" : ".js"}`, asking);
