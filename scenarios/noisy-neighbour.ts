import { allAdmitted, type Scenario } from "./scenario.ts";
import { flow, halfOfSlots, invoke, realTime, repeatEvery } from "./traffic.ts";

/** Number of requests that the quiet key sends every `intervalSeconds`. */
const turnSize = 8;
const intervalSeconds = 0.2;

/** A quiet key sends a few requests: first alone, then while another key is far over its limit. */
export const noisyNeighbour: Scenario = {
  name: "noisy-neighbour",
  title: "one key far over its limit leaves another key's admission and latency alone",
  sends: "one quiet key alone, then together with one that is far over its limit",
  claims: ["LIM-9", "LIM-12"],
  tiers: ["pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: ["keys.second"],
  flows: (limits) => {
    const quiet = (name: string, afterSeconds: number) =>
      repeatEvery(
        intervalSeconds,
        5,
        flow(name, invoke, { kind: "in turn", requests: turnSize }, { key: "second", afterSeconds }),
      );
    const wave = { kind: "shared", atOnce: halfOfSlots(limits), requests: 200 } as const;
    return [
      ...quiet("alone", 0.5),
      ...repeatEvery(intervalSeconds, 9, flow("noise", invoke, wave, { afterSeconds: 2 })),
      // Starts 20 ms after a wave of `noise`, so that the first quiet requests fall into this wave.
      ...quiet("beside", 2 + 2 * intervalSeconds + 0.02),
    ];
  },
  speed: realTime,
  seconds: () => 4,
  admitted: (plan) => ({ ...allAdmitted(plan, "alone"), ...allAdmitted(plan, "beside") }),
};
