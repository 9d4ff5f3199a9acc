import { fileURLToPath } from "node:url";

import { z } from "zod";

import { findK6 } from "../../src/load/engines/k6/binary.ts";
import { createLineCollector } from "../../src/load/engines/k6/evidence.ts";
import { commandsOf } from "../../src/load/engines/k6/command.ts";
import { startK6 } from "../../src/load/engines/k6/process.ts";
import { childrenCpuMs, divideTimes, measureTime, type Measurement } from "../measuring/measurement.ts";
import { engineOptionsFor } from "../measuring/engine-options.ts";

const inputSchema = z.object({
  script: z.enum(["scenario", "bare"]),
  url: z.string(),
  key: z.string(),
  connections: z.int(),
  amount: z.int(),
});

/** Sends requests with a k6 script. Returns the duration and CPU time of k6 per 1,000 requests. */
export async function run(input: unknown): Promise<Measurement> {
  const { script, url, key, connections, amount } = inputSchema.parse(input);
  const parts = engineOptionsFor(url, key, { perMinute: amount, concurrent: connections });
  const file = fileURLToPath(new URL(`../k6/${script}.ts`, import.meta.url));
  const { path } = await findK6();
  const [command] = commandsOf(file, parts, Date.now(), null);
  if (command === undefined) throw new Error("there is no command for k6");
  const collector = createLineCollector();
  const before = childrenCpuMs();
  const took = await measureTime(async () => {
    const { code, log } = await startK6(path, command, collector.take).ended;
    if (code !== 0) throw new Error(`k6 ended with ${code}: ${log.slice(-3).join(" ")}`);
  });
  if (script === "scenario" && collector.counts.admitted < amount)
    throw new Error(`of ${amount} requests of k6 ${collector.counts.admitted} were answered as they should be`);
  return divideTimes({ ...took, cpuMs: childrenCpuMs() - before }, amount / 1000);
}
