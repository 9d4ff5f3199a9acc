import { z } from "zod";
import { readFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

export const measurementSchema = z.object({
  wallMs: z.number(),
  cpuMs: z.number(),
  bytes: z.number().nullable(),
});

/** One measurement: elapsed time, CPU time, and memory in bytes (`null` if not measured). */
export type Measurement = Readonly<z.infer<typeof measurementSchema>>;

/** Measures the times of work in this process. Collects garbage first, if Node runs with `--expose-gc`. */
export async function measureTime(work: () => unknown): Promise<Measurement> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  const startedMs = performance.now();
  await work();
  const wallMs = performance.now() - startedMs;
  return { wallMs, cpuMs: cpuMsSince(before), bytes: null };
}

export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

export const divideTimes = ({ wallMs, cpuMs, bytes }: Measurement, count: number): Measurement => ({
  wallMs: wallMs / count,
  cpuMs: cpuMs / count,
  bytes,
});

/** Linux counts CPU time in ticks of a hundredth of a second. */
const ticksPerSecond = 100;

/** Returns the CPU time of all child processes that have ended, including their own children. */
export function childrenCpuMs(): number {
  const fields = statFields();
  return ((Number(fields[13]) + Number(fields[14])) / ticksPerSecond) * 1000;
}

/** Maximum wait, in milliseconds, until Linux counts the CPU time of a process that has ended. */
const maxExitMs = 5000;

/** Returns the CPU time of ended child processes. While it is 0, waits up to `maxExitMs` for Linux to count it. */
export async function endedChildrenCpuMs(): Promise<number> {
  const deadlineMs = performance.now() + maxExitMs;
  while (childrenCpuMs() === 0 && performance.now() < deadlineMs) await sleep(20);
  return childrenCpuMs();
}

function statFields(): string[] {
  try {
    // The program's name may contain spaces and brackets, so this drops everything up to its closing bracket.
    return readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    throw new Error("only Linux reports the CPU time of child processes");
  }
}
