import { z } from "zod";

import { soak } from "../../scenarios/soak.ts";
import { flow, invoke } from "../../scenarios/traffic.ts";
import { judgeLoad } from "../../src/load/judge/judge.ts";
import { runAutocannon } from "../../src/load/engines/autocannon/run.ts";
import { endedChildrenCpuMs, measureTime, type Measurement } from "../measuring/measurement.ts";
import { engineOptionsFor } from "../measuring/engine-options.ts";

const inputSchema = z.object({ url: z.string(), key: z.string(), connections: z.int(), amount: z.int() });

/** Measures how long a scenario takes with autocannon, from the first request to the verdict. */
export async function run(input: unknown): Promise<Measurement> {
  const { url, key, connections, amount } = inputSchema.parse(input);
  const shape = { kind: "shared", atOnce: connections, requests: amount } as const;
  const scenario = { ...soak, flows: () => [flow("even", invoke, shape)] };
  const evidence = await runAutocannon(scenario, engineOptionsFor(url, key));
  if (evidence.latency.admitted.count < amount) throw new Error("not every request was answered as it should be");
  const judging = await measureTime(() => judgeLoad(evidence, scenario));
  return {
    wallMs: evidence.durationMs + judging.wallMs,
    cpuMs: (await endedChildrenCpuMs()) + judging.cpuMs,
    bytes: null,
  };
}
