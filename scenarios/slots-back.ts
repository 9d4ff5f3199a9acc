import { allAdmitted, type Scenario } from "./scenario.ts";
import { failingInvoke, flow, slowInvoke, slowStream } from "./traffic.ts";

/** Frees all concurrency slots by failure, completion and disconnection. After each, fills all slots again. */
export const slotsBack: Scenario = {
  name: "slots-back",
  title: "slots come back after completion, failure and a client that leaves",
  sends: "slots freed by completion, by failure and by clients that disconnect",
  claims: ["LIM-6", "LIM-17", "SSE-27"],
  tiers: ["pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: ["agents.slow", "agents.slowStreaming", "agents.failing"],
  flows: ({ concurrent }) => {
    const inEverySlot = { kind: "at once", requests: concurrent } as const;
    const fillSlots = (name: string, afterSeconds: number) => flow(name, slowInvoke, inEverySlot, { afterSeconds });
    return [
      flow("failing", failingInvoke, inEverySlot),
      fillSlots("after-failure", 2),
      fillSlots("after-completion", 6),
      flow("left-invokes", slowInvoke, inEverySlot, { afterSeconds: 10, leaveAfterMs: 1000 }),
      fillSlots("after-left-invokes", freeSeconds(10, 1)),
      flow("left-streams", slowStream, inEverySlot, { afterSeconds: 22, leaveAfterMs: 2500 }),
      fillSlots("after-left-streams", freeSeconds(22, 2.5)),
    ];
  },
  speed: () => 4,
  seconds: () => 35,
  admitted: (plan) => allAdmitted(plan, "after-"),
};

/** Returns the second at which all slots must be free again. A server may take 6.5 s to notice a disconnection. */
const freeSeconds = (startSeconds: number, disconnectSeconds: number): number => startSeconds + disconnectSeconds + 6.5;
