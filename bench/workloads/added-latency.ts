import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { Agent } from "undici";
import { z } from "zod";

import { quantile } from "../../src/base/statistics/quantile.ts";
import { cpuMsSince } from "../measuring/measure-time.ts";
import type { Measurement } from "../measuring/measurement.ts";

export const pacedSchema = z.object({
  direct: z.string(),
  through: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  perSecond: z.number(),
  amount: z.int(),
});

/** Requests to send at a constant rate, alternately to the server and through the proxy. */
export type PacedRequests = z.infer<typeof pacedSchema>;

/**
 * Measures how much a proxy adds to the 99th percentile of latency. Requests with and without proxy alternate, so that
 * a slow moment of the machine affects both.
 */
export async function run(input: unknown): Promise<Measurement> {
  const { direct, through, path, headers, body, perSecond, amount } = pacedSchema.parse(input);
  const agent = new Agent({ connections: 50 });
  const tookMs: Record<string, number[]> = { [direct]: [], [through]: [] };
  const cpu = process.cpuUsage();
  const send = async (origin: string): Promise<void> => {
    const sentMs = performance.now();
    const response = await agent.request({ origin, path, method: "POST", headers, body });
    await response.body.dump();
    tookMs[origin]?.push(performance.now() - sentMs);
  };
  const pending: Promise<void>[] = [];
  const startedMs = performance.now();
  for (let at = 0; at < 2 * amount; at += 1) {
    const waitMs = startedMs + (at * 500) / perSecond - performance.now();
    if (waitMs >= 1) await sleep(waitMs);
    pending.push(send(at % 2 === 0 ? direct : through));
  }
  await Promise.all(pending);
  await agent.close();
  const p99 = (origin: string): number => quantile(tookMs[origin] ?? [], 0.99);
  return { wallMs: Math.max(0.001, p99(through) - p99(direct)), cpuMs: cpuMsSince(cpu), bytes: null };
}
