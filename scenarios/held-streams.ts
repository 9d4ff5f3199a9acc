import { allAdmitted, exactly, type Scenario } from "./scenario.ts";
import { flow, invoke, slowStream } from "./traffic.ts";

/** Opens as many streams as the key may have at the same time. Until they end, further requests must be refused. */
export const heldStreams: Scenario = {
  name: "held-streams",
  title: "a stream holds its slot until its end",
  sends: "a stream in every slot, and invokes at the same time",
  claims: ["LIM-5", "LIM-6", "LIM-11", "LIM-17", "LIM-18", "HDR-6"],
  tiers: ["free", "pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: ["agents.slowStreaming"],
  flows: ({ concurrent }) => [
    flow("streams", slowStream, { kind: "at once", requests: concurrent }),
    flow("early", invoke, { kind: "in turn", requests: 2 }, { afterSeconds: 3 }),
    flow("late", invoke, { kind: "in turn", requests: 2 }, { afterSeconds: 6 }),
    flow("afterwards", invoke, { kind: "in turn", requests: 2 }, { afterSeconds: 16 }),
  ],
  speed: () => 4,
  seconds: () => 17,
  admitted: (plan) => ({
    ...allAdmitted(plan, "streams"),
    early: exactly(0),
    late: exactly(0),
    ...allAdmitted(plan, "afterwards"),
  }),
};
