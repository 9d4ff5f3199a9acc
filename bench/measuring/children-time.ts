import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

/** Linux counts CPU time in ticks of a hundredth of a second. */
const ticksPerSecond = 100;

/**
 * CPU time of the child processes that have ended, including their own children.
 *
 * @throws {Error} if this machine does not report these times
 */
export function childrenCpuMs(): number {
  const fields = statFields();
  return ((Number(fields[13]) + Number(fields[14])) / ticksPerSecond) * 1000;
}

/** How long to wait at most until Linux counts the CPU time of a stopped process. */
const maxExitMs = 5000;

/** Waits until at least one child process has ended, and returns the CPU time of ended child processes. */
export async function endedChildrenCpuMs(): Promise<number> {
  const deadlineMs = performance.now() + maxExitMs;
  while (childrenCpuMs() === 0 && performance.now() < deadlineMs) await sleep(20);
  return childrenCpuMs();
}

function statFields(): string[] {
  try {
    // The second field, the program's name in brackets, may contain spaces and brackets. So this takes the fields after
    // the last bracket.
    return readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    throw new Error("only Linux reports the CPU time of child processes");
  }
}
