import type { Scenario } from "./scenario.ts";
import { flow, halfOfSlots, invoke, realTime, repeatEvery } from "./traffic.ts";

/** Requests of the quiet key in each of its short turns. */
const perTurn = 8;
const betweenSeconds = 0.2;

/** One key calls a little, first alone and then beside another one that is far over its limit. */
export const noisyNeighbour: Scenario = {
  name: "noisy-neighbour",
  title: "one key far over its limit leaves another key's admission and latency alone",
  claims: ["LIM-9", "LIM-12"],
  tiers: ["pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: ["keys.second"],
  flows: (limits) => {
    const quiet = (name: string, afterSeconds: number) =>
      repeatEvery(
        5,
        flow(name, invoke, { kind: "in turn", requests: perTurn }, { key: "second", afterSeconds }),
        betweenSeconds,
      );
    return [
      ...quiet("alone", 0.5),
      ...repeatEvery(
        9,
        flow("noise", invoke, { kind: "shared", atOnce: halfOfSlots(limits), requests: 200 }, { afterSeconds: 2 }),
        betweenSeconds,
      ),
      // Each turn falls into a wave.
      ...quiet("beside", 2 + 2 * betweenSeconds + 0.02),
    ];
  },
  speed: realTime,
  seconds: () => 4,
};
