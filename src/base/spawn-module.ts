import { type ChildProcess, fork, type ForkOptions, type Serializable } from "node:child_process";
import { getAsset, isSea } from "node:sea";
import { isMainThread, Worker, type WorkerOptions } from "node:worker_threads";

// Starts modules in a thread or a process of their own. In the sources and the build, such a module is a file next to
// its caller. The single executable file contains all modules.

/** The asset of the executable file that holds the executable's code. */
export const codeAsset = "code.cjs";

/** Starts a module in a new thread. The module is next to the caller. */
export const startWorker = (asking: string, name: string, options: WorkerOptions = {}): Worker =>
  isSea()
    ? new Worker(getAsset(codeAsset, "utf8"), { ...options, eval: true, argv: [partMark + name] })
    : new Worker(moduleNextTo(asking, name), options);

interface ProcessOptions extends ForkOptions {
  /** Node options. Only those that NODE_OPTIONS accepts, because the executable file passes them there. */
  readonly execArgv: string[];
}

/** Starts a module in a new process. The module is next to the caller. */
export function startProcess(asking: string, name: string, options: ProcessOptions): ChildProcess {
  if (!isSea()) return fork(moduleNextTo(asking, name), [], options);
  // The executable file passes all arguments to our code, so options for Node go into the environment.
  const nodeOptions = [process.env["NODE_OPTIONS"] ?? "", ...options.execArgv].join(" ").trim();
  const env = { ...process.env, NODE_OPTIONS: nodeOptions };
  return fork(partMark + name, [], { ...options, execArgv: [], env });
}

/** Sends a message to the process that started this one. If that process has ended, the message is dropped. */
export const sendToParent = (message: Serializable): void =>
  // Without a callback, a failed send is an uncaught error with a stack trace.
  void process.send?.(message, undefined, undefined, () => {});

const partMark = "part of the conformance executable: ";

/** Name of the module that this thread or process of the executable file must run; `null` if a person started it. */
export function moduleToRun(): string | null {
  const isStartedByUs = !isMainThread || process.send !== undefined;
  const [, , argument = ""] = process.argv;
  return isStartedByUs && argument.startsWith(partMark) ? argument.slice(partMark.length) : null;
}

/** Returns the module's URL. The module has the caller's file extension: `.ts` in the sources, `.js` in the build. */
const moduleNextTo = (asking: string, name: string): URL =>
  new URL(`./${name}${asking.endsWith(".ts") ? ".ts" : ".js"}`, asking);
