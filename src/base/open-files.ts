import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { devNull } from "node:os";
import { performance } from "node:perf_hooks";

import { HarnessLimit, harnessLimitOf } from "./harness-limit.ts";

/** Returns how many more files and connections this process can open now, up to a maximum. */
export const availableFiles = (max: number): number => Math.min(max, readAvailable() ?? openable(max));

/** Reads the limit and the open files of this process from Linux; `null` elsewhere. */
function readAvailable(): number | null {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return limit === undefined ? null : Math.max(0, Number(limit) - readdirSync("/proc/self/fd").length);
  } catch (error) {
    return harnessLimitOf(error) === null ? null : 0;
  }
}

/** Opens and closes files: no API of Node knows the limit. If there is no file to open, assumes that there is no limit. */
function openable(max: number): number {
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

/** Reserve for files, pipes, and the threads of Node, which a process opens in addition to connections. */
export const reservedFiles = 64;

/**
 * Checks, before a command sends anything, that the command can open enough files. At the limit, Node would silently
 * close connections that it should accept.
 *
 * @param connections the most that are open at once in one process
 * @throws {HarnessLimit}
 */
export function assertOpenFiles(connections: number): void {
  const needed = connections + reservedFiles;
  const available = availableFiles(needed);
  if (available >= needed) return;
  throw new HarnessLimit(
    "EMFILE",
    `the harness may need ${needed} more open files, and can open ${available}: raise the limit, such as with \`ulimit -n ${enoughFor(needed)}\``,
  );
}

/** A limit that leaves room for the files that are open already. It is a power of two, as such limits usually are. */
const enoughFor = (needed: number): number => Math.max(1024, 2 ** Math.ceil(Math.log2(needed + reservedFiles)));

/** How often the limit is checked, and the minimum time between two reports. */
const [watchedEveryMs, reportedEveryMs] = [250, 60_000];

/**
 * Calls back when this process can open no further file, at most once a minute. Node reports nothing when it closes a connection for that reason.
 *
 * @returns ends the watch
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
