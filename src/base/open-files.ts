import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { devNull } from "node:os";
import { performance } from "node:perf_hooks";

import { HarnessLimit, harnessLimitOf } from "./harness-limit.ts";

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

/** File descriptors that connections must not use: Node's threads and pipes need them. */
export const reservedFiles = 64;

/**
 * Checks that this process can open enough files. Beyond its limit, Node silently closes connections.
 * @param connections maximum number of open connections in one process
 * @throws {HarnessLimit}
 */
export function assertOpenFiles(connections: number): void {
  const needed = connections + reservedFiles;
  const available = availableFiles(needed);
  if (available >= needed) return;
  throw new HarnessLimit(
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
