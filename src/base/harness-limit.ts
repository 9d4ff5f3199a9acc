import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { devNull } from "node:os";
import { performance } from "node:perf_hooks";

/** Messages for errors of Node that mean that this machine ran out of a resource, by error code. */
const limitMessages = {
  EMFILE: "the harness ran out of file descriptors (EMFILE): raise `ulimit -n`",
  ENFILE: "this machine ran out of file descriptors (ENFILE): raise `sysctl fs.file-max`, or end other programs",
  ENOMEM: "this machine ran out of memory (ENOMEM): give it more, or end other programs",
  ENOBUFS: "this machine ran out of memory for sockets (ENOBUFS): give it more, or end other programs",
  EADDRNOTAVAIL:
    "this machine ran out of local ports (EADDRNOTAVAIL): widen `sysctl net.ipv4.ip_local_port_range`, or wait a minute",
  EAGAIN: "this machine starts no more processes (EAGAIN): raise `ulimit -u`",
  ERR_WORKER_INIT_FAILED: "this machine starts no more threads: raise `ulimit -u` and `ulimit -n`",
  ERR_WORKER_OUT_OF_MEMORY: "a thread of the harness ran out of memory: give this machine more",
} as const;

export type HarnessLimitCode = keyof typeof limitMessages;

/** An error whose cause is that this machine ran out of a resource, such as ports. The target is not at fault. */
export class HarnessLimitError extends Error {
  override readonly name = "HarnessLimitError";
  readonly code: HarnessLimitCode;

  constructor(code: HarnessLimitCode, message: string = limitMessages[code]) {
    super(message);
    this.code = code;
  }
}

/** Finds the exhausted resource of this machine that caused an error. Returns `null` if the error has another cause. */
export function harnessLimitOf(error: unknown): HarnessLimitError | null {
  if (error instanceof HarnessLimitError) return error;
  if (!(error instanceof Error)) return null;
  if (error instanceof AggregateError) {
    const found = error.errors.map(harnessLimitOf);
    return found.includes(null) ? null : (found[0] ?? null);
  }
  const code = "code" in error ? error.code : null;
  const isOfSpawn = code !== "EAGAIN" || ("syscall" in error && String(error.syscall).startsWith("spawn"));
  return isLimitCode(code) && isOfSpawn ? new HarnessLimitError(code) : harnessLimitOf(error.cause);
}

const isLimitCode = (code: unknown): code is HarnessLimitCode =>
  typeof code === "string" && Object.hasOwn(limitMessages, code);

/** Error messages of other programs, such as k6, with the matching system error codes. */
const foreignMessages: readonly (readonly [pattern: RegExp, code: HarnessLimitCode])[] = [
  [/too many open files in system/i, "ENFILE"],
  [/too many open files/i, "EMFILE"],
  [/cannot assign requested address/i, "EADDRNOTAVAIL"],
  [/cannot allocate memory|out of memory/i, "ENOMEM"],
  [/no buffer space available/i, "ENOBUFS"],
  [/fork\/exec \S+: resource temporarily unavailable|failed to create new OS thread/i, "EAGAIN"],
];

export function harnessLimitIn(text: string): HarnessLimitError | null {
  const found = foreignMessages.find(([pattern]) => pattern.test(text));
  return found === undefined ? null : new HarnessLimitError(found[1]);
}

export const availableFiles = (max: number): number => Math.min(max, readAvailableOnLinux() ?? countOpenableFiles(max));

function readAvailableOnLinux(): number | null {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit === undefined ? null : Math.max(0, Number(limit) - readdirSync("/proc/self/fd").length);
  } catch (error) {
    return harnessLimitOf(error) === null ? null : 0;
  }
}

function countOpenableFiles(max: number): number {
  const open: number[] = [];
  let isLimited = false;
  try {
    while (open.length < max) open.push(openSync(devNull, "r"));
  } catch (error) {
    isLimited = harnessLimitOf(error) !== null;
  }
  for (const file of open) closeSync(file);
  return isLimited ? open.length : max;
}

/** Number of file descriptors to keep free of connections, because Node's threads and pipes need them. */
const reservedFiles = 64;

/**
 * Checks that this process can open enough files. Beyond the limit of open files, Node silently closes connections.
 * @param connections maximum number of open connections in one process
 * @throws {HarnessLimitError}
 */
export function assertOpenFiles(connections: number): void {
  const needed = connections + reservedFiles;
  const available = availableFiles(needed);
  if (available >= needed) return;
  throw new HarnessLimitError(
    "EMFILE",
    `the harness may need ${needed} more open files, and can open ${available}: raise the limit, such as with \`ulimit -n ${recommendedLimit(needed)}\``,
  );
}

const recommendedLimit = (needed: number): number => Math.max(1024, 2 ** Math.ceil(Math.log2(needed + reservedFiles)));

/** How often {@link watchOpenFiles} checks, and the minimum time between two calls of `onLimit`. */
const [watchedEveryMs, reportedEveryMs] = [250, 60_000];

/**
 * Calls `onLimit`, at most once a minute, when this process cannot open more files.
 * @returns a function that ends the watch
 */
export function watchOpenFiles(onLimit: () => void): () => void {
  let reportedMs = -Infinity;
  const timer = setInterval(() => {
    if (performance.now() - reportedMs < reportedEveryMs || availableFiles(1) > 0) return;
    reportedMs = performance.now();
    onLimit();
  }, watchedEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
