import type { TierLimits } from "../src/spec/tiers.ts";
import type { Scenario } from "./scenario.ts";
import { flow, slowStream, stream } from "./traffic.ts";

/** As many streams at once as the slots carry with some to spare, slow ones and fast ones. */
export const streamIntegrity: Scenario = {
  name: "stream-integrity",
  title: "every stream keeps its order and ends once, with hundreds of them at once",
  claims: ["SSE-1", "SSE-2", "SSE-4", "SSE-5", "SSE-6", "SSE-11", "SSE-13", "HDR-6"],
  tiers: ["enterprise", "pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: { perHour: 100_000, perMinute: 50_000, concurrent: 400, burst: 50_000, tokensPerMonth: 50_000_000 },
  needs: ["agents.slowStreaming"],
  flows: (limits) => [
    flow("slow", slowStream, { kind: "at once", requests: share(limits, 0.75, 300) }),
    flow(
      "fast",
      stream,
      { kind: "shared", atOnce: share(limits, 0.1, 20), requests: share(limits, 1, 200) },
      { afterSeconds: 4 },
    ),
  ],
  speed: () => 4,
  seconds: () => 14,
};

/** A part of the slots, `most` at the most. */
const share = ({ concurrent }: TierLimits, part: number, most: number): number =>
  Math.max(1, Math.min(most, Math.floor(concurrent * part)));
