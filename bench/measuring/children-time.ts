import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

/** Linux reports these times in hundredths of a second. */
const ticksPerSecond = 100;

/**
 * CPU time of ended child processes, with their own children.
 *
 * @throws {Error} if this machine does not report it
 */
export function childrenCpuMs(): number {
  const fields = statFields();
  return ((Number(fields[13]) + Number(fields[14])) / ticksPerSecond) * 1000;
}

/** Maximum time in ms until a stopped process has ended and its time is counted. */
const endsWithinMs = 5000;

/** The CPU time of child processes, once at least one of them has ended. */
export async function endedChildrenCpuMs(): Promise<number> {
  const deadlineMs = performance.now() + endsWithinMs;
  while (childrenCpuMs() === 0 && performance.now() < deadlineMs) await sleep(20);
  return childrenCpuMs();
}

function statFields(): string[] {
  try {
    // The program's name is in brackets, and may contain spaces and brackets.
    return readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    throw new Error("only Linux reports the CPU time of child processes");
  }
}
