import { type ChildProcess, fork, type ForkOptions, type Serializable } from "node:child_process";
import { getAsset, isSea } from "node:sea";
import { isMainThread, Worker, type WorkerOptions } from "node:worker_threads";

// This file starts modules in threads and processes. The single executable contains all modules in one asset,
// `codeAsset`.

export const codeAsset = "code.cjs";

/** Starts the module `name` in a new thread. Its file is in the folder of the caller, whose URL is `callerUrl`. */
export const startWorker = (callerUrl: string, name: string, options: WorkerOptions = {}): Worker =>
  isSea()
    ? new Worker(getAsset(codeAsset, "utf8"), { ...options, eval: true, argv: [partMark + name] })
    : new Worker(moduleNextTo(callerUrl, name), options);

interface ProcessOptions extends ForkOptions {
  /** Options for Node. Use only options that are allowed in NODE_OPTIONS. */
  readonly execArgv: string[];
}

export function startProcess(callerUrl: string, name: string, options: ProcessOptions): ChildProcess {
  if (!isSea()) return fork(moduleNextTo(callerUrl, name), [], options);
  // The single executable passes all arguments to the harness. So Node gets its options through NODE_OPTIONS.
  const nodeOptions = [process.env["NODE_OPTIONS"] ?? "", ...options.execArgv].join(" ").trim();
  const env = { ...process.env, NODE_OPTIONS: nodeOptions };
  return fork(partMark + name, [], { ...options, execArgv: [], env });
}

export const sendToParent = (message: Serializable): void =>
  // The empty callback ignores the error of a failed send. Without it, the error would be uncaught.
  void process.send?.(message, undefined, undefined, () => {});

const partMark = "part of the conformance executable: ";

/** Returns the name of the module that this thread or process has to run; `null` if a user started the process. */
export function moduleToRun(): string | null {
  const isStartedByUs = !isMainThread || process.send !== undefined;
  const [, , argument = ""] = process.argv;
  return isStartedByUs && argument.startsWith(partMark) ? argument.slice(partMark.length) : null;
}

/** Returns the URL of a module in the caller's folder. Its extension is `.ts` in the sources, `.js` in the build. */
const moduleNextTo = (callerUrl: string, name: string): URL =>
  new URL(`./${name}${callerUrl.endsWith(".ts") ? ".ts" : ".js"}`, callerUrl);
