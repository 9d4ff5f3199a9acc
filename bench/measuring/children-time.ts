import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

/** Linux counts in hundredths of a second here. */
const ticksPerSecond = 100;

/**
 * Processor time of the processes that this one has started and that have ended, theirs included.
 *
 * @throws {Error} where this machine does not tell
 */
export function childrenCpuMs(): number {
  const fields = statFields();
  return ((Number(fields[13]) + Number(fields[14])) / ticksPerSecond) * 1000;
}

/** A process that was told to end is counted once it has; longer than this it does not take. In ms. */
const endsWithinMs = 5000;

/** The same, once the first of them has ended. */
export async function endedChildrenCpuMs(): Promise<number> {
  const deadlineMs = performance.now() + endsWithinMs;
  while (childrenCpuMs() === 0 && performance.now() < deadlineMs) await sleep(20);
  return childrenCpuMs();
}

function statFields(): string[] {
  try {
    // The program's name stands in brackets, and may hold blanks and brackets itself.
    return readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    throw new Error("only Linux tells what a process's children have used");
  }
}
