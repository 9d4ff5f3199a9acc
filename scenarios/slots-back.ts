import type { Scenario } from "./scenario.ts";
import { failingInvoke, flow, slowInvoke, slowStream } from "./traffic.ts";

/** All slots are used and given up in every way there is; after each, as many slow invokes as there are slots must find room. */
export const slotsBack: Scenario = {
  name: "slots-back",
  title: "slots come back after completion, failure and a client that leaves",
  claims: ["LIM-6", "LIM-17", "SSE-27"],
  tiers: ["pro"],
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: ["agents.slow", "agents.slowStreaming", "agents.failing"],
  flows: ({ concurrent }) => {
    const all = { kind: "at once", requests: concurrent } as const;
    const full = (name: string, afterSeconds: number) => flow(name, slowInvoke, all, { afterSeconds });
    return [
      flow("failing", failingInvoke, all),
      full("after-failure", 2),
      full("after-completion", 6),
      flow("left-invokes", slowInvoke, all, { afterSeconds: 10, leaveAfterMs: 1000 }),
      full("after-left-invokes", goneAfter(10, 1)),
      flow("left-streams", slowStream, all, { afterSeconds: 22, leaveAfterMs: 2500 }),
      full("after-left-streams", goneAfter(22, 2.5)),
    ];
  },
  speed: () => 4,
  seconds: () => 35,
};

/** A server may notice some seconds later that a client has left, and give the slot back a little later still: by then it has. */
const goneAfter = (afterSeconds: number, leftAfterSeconds: number): number => afterSeconds + leftAfterSeconds + 6.5;
