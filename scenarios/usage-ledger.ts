import type { Scenario } from "./scenario.ts";
import { flow, halfOfSlots, invoke, realTime, stream } from "./traffic.ts";

/** Invokes and streams within the limits, and what `GET /v1/usage` says before and after. */
export const usageLedger: Scenario = {
  name: "usage-ledger",
  title: "the usage report grows by exactly what was admitted",
  claims: ["USE-1", "USE-3", "USE-4", "USE-7", "USE-8", "LIM-11"],
  tiers: ["free", "pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: [],
  flows: (limits) => [
    flow("invokes", invoke, {
      kind: "shared",
      atOnce: halfOfSlots(limits),
      requests: Math.floor(limits.perMinute * 0.6),
    }),
    flow(
      "streams",
      stream,
      { kind: "shared", atOnce: halfOfSlots(limits), requests: Math.max(1, Math.floor(limits.perMinute * 0.1)) },
      { afterSeconds: 1 },
    ),
  ],
  speed: realTime,
  seconds: () => 2,
};
