import { performance } from "node:perf_hooks";

import type { Took } from "./took.ts";

/** What work in this process takes. What earlier work has left is collected first, where the process may ask for that. */
export async function timed(work: () => unknown): Promise<Took> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  const startedMs = performance.now();
  await work();
  const wallMs = performance.now() - startedMs;
  return { wallMs, cpuMs: cpuMsSince(before), bytes: null };
}

/** Processor time of this process since then. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Times of one part of a go, as so many of them fit into it. */
export const perOne = ({ wallMs, cpuMs, bytes }: Took, count: number): Took => ({
  wallMs: wallMs / count,
  cpuMs: cpuMs / count,
  bytes,
});
