import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { Agent } from "undici";
import { z } from "zod";

import { quantile } from "../../src/base/statistics/samples.ts";
import { cpuMsSince, type Measurement } from "../measuring/measurement.ts";

const pacedSchema = z.object({
  direct: z.string(),
  through: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  perSecond: z.number(),
  amount: z.int(),
});

export type PacedRequests = z.infer<typeof pacedSchema>;

/** Length of a time window. Each window has its own 99th percentiles, with and without the proxy. */
const windowMs = 1000;

/** Measures how many ms a proxy adds to the 99th percentile of latency. Returns the median of all time windows. */
export async function run(input: unknown): Promise<Measurement> {
  const { direct, through, path, headers, body, perSecond, amount } = pacedSchema.parse(input);
  const agent = new Agent({ connections: 50 });
  const windows: { readonly direct: number[]; readonly through: number[] }[] = [];
  const windowAt = (ms: number) => (windows[Math.floor(ms / windowMs)] ??= { direct: [], through: [] });
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  const send = async (side: "direct" | "through"): Promise<void> => {
    const sentMs = performance.now();
    const origin = side === "direct" ? direct : through;
    const response = await agent.request({ origin, path, method: "POST", headers, body });
    await response.body.dump();
    windowAt(sentMs - startedMs)[side].push(performance.now() - sentMs);
  };
  const pending: Promise<void>[] = [];
  for (let at = 0; at < 2 * amount; at += 1) {
    const waitMs = startedMs + (at * 500) / perSecond - performance.now();
    if (waitMs >= 1) await sleep(waitMs);
    pending.push(send(at % 2 === 0 ? "direct" : "through"));
  }
  await Promise.all(pending);
  await agent.close();
  const added = Object.values(windows).map((each) => quantile(each.through, 0.99) - quantile(each.direct, 0.99));
  return { wallMs: Math.max(0.001, quantile(added, 0.5)), cpuMs: cpuMsSince(cpu), bytes: null };
}
