import { allAdmitted, type Scenario, type ScenarioLimits } from "./scenario.ts";
import { flow, slowStream, stream } from "./traffic.ts";

/** Sends slow and fast streams at once, and stays below the key's concurrency limit. */
export const streamIntegrity: Scenario = {
  name: "stream-integrity",
  title: "every stream keeps its order and ends once, with hundreds of them at once",
  sends: "hundreds of streams at once, slow ones and fast ones",
  claims: ["SSE-1", "SSE-2", "SSE-4", "SSE-5", "SSE-6", "SSE-11", "SSE-13", "HDR-6"],
  tiers: ["enterprise", "pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: {
    perHour: 100_000,
    perMinute: 50_000,
    concurrent: 400,
    burst: 50_000,
    tokensPerMonth: 50_000_000,
  },
  needs: ["agents.slowStreaming"],
  flows: (limits) => [
    flow("slow", slowStream, { kind: "at once", requests: shareOfSlots(limits, 0.75, 300) }),
    flow(
      "fast",
      stream,
      { kind: "shared", atOnce: shareOfSlots(limits, 0.1, 20), requests: shareOfSlots(limits, 1, 200) },
      { afterSeconds: 4 },
    ),
  ],
  speed: () => 4,
  seconds: () => 14,
  admitted: allAdmitted,
};

const shareOfSlots = ({ concurrent }: ScenarioLimits, share: number, max: number): number =>
  Math.max(1, Math.min(max, Math.floor(concurrent * share)));
