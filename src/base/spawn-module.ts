import { type ChildProcess, fork, type ForkOptions, type Serializable } from "node:child_process";
import { getAsset, isSea } from "node:sea";
import { isMainThread, Worker, type WorkerOptions } from "node:worker_threads";

/** Asset of the single executable that contains the code of all modules. */
export const codeAsset = "code.cjs";

/** Starts the module `name` in a new thread. The module's file is in the same folder as the caller's, `callerUrl`. */
export const startWorker = (callerUrl: string, name: string, options: WorkerOptions = {}): Worker =>
  isSea()
    ? new Worker(getAsset(codeAsset, "utf8"), { ...options, eval: true, argv: [modulePrefix + name] })
    : new Worker(moduleNextTo(callerUrl, name), options);

interface ProcessOptions extends ForkOptions {
  /** Options for Node. The single executable can use only options that are allowed in NODE_OPTIONS. */
  readonly execArgv: string[];
}

export function startProcess(callerUrl: string, name: string, options: ProcessOptions): ChildProcess {
  if (!isSea()) return fork(moduleNextTo(callerUrl, name), [], options);
  // The single executable passes all arguments to the harness. So Node gets its options through NODE_OPTIONS.
  const nodeOptions = [process.env["NODE_OPTIONS"] ?? "", ...options.execArgv].join(" ").trim();
  const env = { ...process.env, NODE_OPTIONS: nodeOptions };
  return fork(modulePrefix + name, [], { ...options, execArgv: [], env });
}

export const sendToParent = (message: Serializable): void =>
  // The empty callback ignores the error of a failed send. Without it, the error would be uncaught.
  void process.send?.(message, undefined, undefined, () => {});

const modulePrefix = "part of the conformance executable: ";

/** Returns the name of the module that this thread or process has to run; `null` if a user started the process. */
export function moduleToRun(): string | null {
  const isStartedByUs = !isMainThread || process.send !== undefined;
  const [, , argument = ""] = process.argv;
  return isStartedByUs && argument.startsWith(modulePrefix) ? argument.slice(modulePrefix.length) : null;
}

/** Returns the URL of a module in the caller's folder. Its extension is `.ts` in the sources, `.js` in the build. */
const moduleNextTo = (callerUrl: string, name: string): URL =>
  new URL(`./${name}${callerUrl.endsWith(".ts") ? ".ts" : ".js"}`, callerUrl);
