import { performance } from "node:perf_hooks";

import type { Measurement } from "./measurement.ts";

/**
 * Measures work in this process. First collects the garbage of earlier work, if Node was started with `--expose-gc`.
 */
export async function measureTime(work: () => unknown): Promise<Measurement> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  const startedMs = performance.now();
  await work();
  const wallMs = performance.now() - startedMs;
  return { wallMs, cpuMs: cpuMsSince(before), bytes: null };
}

/** Returns the CPU time of this process since `before`, in milliseconds. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Divides the times of a measurement by a count. Keeps its memory. */
export const divideTimes = ({ wallMs, cpuMs, bytes }: Measurement, count: number): Measurement => ({
  wallMs: wallMs / count,
  cpuMs: cpuMs / count,
  bytes,
});
