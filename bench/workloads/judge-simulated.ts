import { z } from "zod";

import { scenarioNamed } from "../../src/load/scenarios.ts";
import { limitYoungGeneration } from "../../src/cli/runtime.ts";
import { createLineCollector, evidenceOf } from "../../src/load/engines/k6/evidence.ts";
import { judgeLoad } from "../../src/load/judge/judge.ts";
import { endLine, limits, sampleLine } from "../fixtures/k6-log.ts";
import { measureTime, type Measurement } from "../measuring/measurement.ts";

const inputSchema = z.object({ requests: z.int() });

/** Measures how long judging a simulated k6 log takes, and the peak memory of this process (`bytes`). */
export async function run(input: unknown): Promise<Measurement> {
  const { requests } = inputSchema.parse(input);
  limitYoungGeneration();
  const took = await measureTime(() => judgeSimulated(requests));
  return { ...took, bytes: process.resourceUsage().maxRSS * 1024 };
}

function judgeSimulated(requests: number): void {
  const collector = createLineCollector();
  for (let number = 0; number < requests; number += 1) collector.take(sampleLine(number));
  collector.take(endLine(requests));
  const scenario = scenarioNamed("sustained");
  if (scenario === undefined) throw new Error("there is no scenario `sustained`");
  const evidence = evidenceOf(scenario, collector.collected(), {
    engineVersion: "simulated",
    tier: "enterprise",
    limits,
    speed: 1,
    isFresh: false,
    segment: "0:1",
    startedMs: 0,
    peakCpu: null,
    stopped: null,
  });
  if (judgeLoad(evidence, scenario).length === 0) throw new Error("the judge said nothing");
}
