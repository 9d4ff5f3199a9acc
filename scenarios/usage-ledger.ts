import { allAdmitted, type Scenario } from "./scenario.ts";
import { flow, halfOfSlots, invoke, realTime, stream } from "./traffic.ts";

/** Sends invokes and streams within the limits. `GET /v1/usage` must grow by exactly what the server admitted. */
export const usageLedger: Scenario = {
  name: "usage-ledger",
  title: "the usage report grows by exactly what was admitted",
  sends: "invokes and streams, and the usage report before and after",
  claims: ["USE-1", "USE-3", "USE-4", "USE-7", "USE-8", "LIM-11"],
  tiers: ["free", "pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: [],
  flows: (limits) => {
    const shared = (share: number) =>
      ({
        kind: "shared",
        atOnce: halfOfSlots(limits),
        requests: Math.max(1, Math.floor(limits.perMinute * share)),
      }) as const;
    return [flow("invokes", invoke, shared(0.6)), flow("streams", stream, shared(0.1), { afterSeconds: 1 })];
  },
  speed: realTime,
  seconds: () => 2,
  admitted: allAdmitted,
};
