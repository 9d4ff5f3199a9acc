import { eachAdmitted, type Flow, type Scenario, type ScenarioLimits } from "./scenario.ts";
import { flow, invoke, repeatEvery } from "./traffic.ts";

/** Uses up the limit per minute four times: twice with a few extra requests, twice with many. */
export const minuteLimit: Scenario = {
  name: "minute-limit",
  title: "the requests of a minute: exactly as many as the tier allows, also over the minute's end",
  sends: "a minute used up four times, by just more than its number and by far more",
  claims: [
    "LIM-1",
    "LIM-2",
    "LIM-10",
    "LIM-12",
    "HDR-1",
    "HDR-4",
    "HDR-9",
    "HDR-11",
    "HDR-12",
    "HDR-14",
    "HDR-17",
    "HDR-19",
    "SVC-1",
    "REQ-4",
    "ERR-2",
    "ERR-8",
    "ERR-9",
    "INV-2",
  ],
  tiers: "all",
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: [],
  flows: (limits) => [
    ...fillAndOverrun(limits, ["few", "single"], fillSeconds[0]),
    ...fillAndOverrun(limits, ["few-2", "single-2"], fillSeconds[1]),
    ...exhaustAndRecheck(limits, ["serial", "again"], exhaustSeconds[0]),
    ...exhaustAndRecheck(limits, ["serial-2", "again-2"], exhaustSeconds[1]),
  ],
  // A minute lasts 1.5 s at speed 40, and 1 s at speed 60. Even a busy machine can then send all requests of a minute
  // one by one. Without a published `burst`, no verdict is exact, so the clock may be faster.
  speed: ({ perMinute, burst }) => {
    if (burst === null) return 100;
    return perMinute <= 100 ? 40 : 60;
  },
  seconds: () => exhaustSeconds[1] + 35,
  admitted: (plan) => eachAdmitted(plan, "serial", plan.minute),
};

/**
 * Start times of the two series of `fillAndOverrun`, in seconds. Each series lasts 24 s. If one runs into the next
 * minute of the target's clock, the other lies within a single minute, because they start 2.5 minutes apart.
 */
const fillSeconds = [0, 150] as const;
/**
 * Start times of the two series of `exhaustAndRecheck`, in seconds. Each series lasts 25 s. If one runs into the next
 * minute of the target's clock, the other lies within a single minute, because they start 1.5 minutes apart.
 */
const exhaustSeconds = [236, 326] as const;

type FlowNames = readonly [many: string, few: string];

function exhaustAndRecheck(limits: ScenarioLimits, [many, few]: FlowNames, afterSeconds: number): Flow[] {
  const recheck = flow(few, invoke, { kind: "in turn", requests: 3 }, { afterSeconds: afterSeconds + 15 });
  return [
    flow(many, invoke, { kind: "in turn", requests: maxAdmitted(limits) + 3 }, { afterSeconds }),
    ...repeatEvery(10, 2, recheck),
  ];
}

function fillAndOverrun({ perMinute }: ScenarioLimits, [many, few]: FlowNames, afterSeconds: number): Flow[] {
  const single = flow(few, invoke, { kind: "in turn", requests: 1 }, { afterSeconds: afterSeconds + 8 });
  return [
    flow(many, invoke, { kind: "in turn", requests: Math.max(1, perMinute - 2) }, { afterSeconds }),
    ...repeatEvery(4, 5, single),
  ];
}

/** Returns how many requests a minute admits if the burst adds to the limit. A missing burst counts as `perMinute`. */
const maxAdmitted = ({ perMinute, burst }: ScenarioLimits): number => perMinute + (burst ?? perMinute);
