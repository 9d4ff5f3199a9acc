import { type ChildProcess, fork, type ForkOptions, type Serializable } from "node:child_process";
import { getAsset, isSea } from "node:sea";
import { isMainThread, Worker, type WorkerOptions } from "node:worker_threads";

// This file starts a module in another thread or process. The module is a file next to its caller, or a part of the
// single executable file.

/** Name of the harness's own code within the single executable file. */
export const codeAsset = "code.cjs";

/** Starts the module `name` in a new thread. The module is next to the caller, whose URL is `callerUrl`. */
export const startWorker = (callerUrl: string, name: string, options: WorkerOptions = {}): Worker =>
  isSea()
    ? new Worker(getAsset(codeAsset, "utf8"), { ...options, eval: true, argv: [partMark + name] })
    : new Worker(moduleNextTo(callerUrl, name), options);

interface ProcessOptions extends ForkOptions {
  /**
   * Options for Node. They must be allowed in NODE_OPTIONS, through which the single executable file passes them on.
   */
  readonly execArgv: string[];
}

/** Starts the module `name` in a new process. The module is next to the caller, whose URL is `callerUrl`. */
export function startProcess(callerUrl: string, name: string, options: ProcessOptions): ChildProcess {
  if (!isSea()) return fork(moduleNextTo(callerUrl, name), [], options);
  // The single executable file passes all arguments to the harness's code, so options for Node go into NODE_OPTIONS.
  const nodeOptions = [process.env["NODE_OPTIONS"] ?? "", ...options.execArgv].join(" ").trim();
  const env = { ...process.env, NODE_OPTIONS: nodeOptions };
  return fork(partMark + name, [], { ...options, execArgv: [], env });
}

/** Sends a message to the process that started this one. Drops the message if that process has ended. */
export const sendToParent = (message: Serializable): void =>
  // The empty callback ignores the error of a failed send. Without it, the error would be uncaught.
  void process.send?.(message, undefined, undefined, () => {});

const partMark = "part of the conformance executable: ";

/**
 * In the single executable file, returns the name of the module that `startWorker` or `startProcess` has started.
 * Returns `null` if a user started the program.
 */
export function moduleToRun(): string | null {
  const isStartedByUs = !isMainThread || process.send !== undefined;
  const [, , argument = ""] = process.argv;
  return isStartedByUs && argument.startsWith(partMark) ? argument.slice(partMark.length) : null;
}

/** Returns the module's URL. The module has the caller's file extension: `.ts` in the sources, `.js` in the build. */
const moduleNextTo = (callerUrl: string, name: string): URL =>
  new URL(`./${name}${callerUrl.endsWith(".ts") ? ".ts" : ".js"}`, callerUrl);
