import { eachAdmitted, type Flow, type Scenario, type ScenarioLimits } from "./scenario.ts";
import { flow, invoke, repeatEvery } from "./traffic.ts";

/**
 * Uses up a minute four times, each time on an empty window. Two flows send just more than the minute's number. The
 * other two send more than minute and burst can allow together. One flow of each pair lies within a single fixed
 * minute, wherever the target's minutes end.
 */
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
  // Slow enough that sequential requests take only a part of a minute on a busy machine. An unpublished burst allows no sharp verdict anyway.
  speed: ({ perMinute, burst }) => {
    if (burst === null) return 100;
    return perMinute <= 100 ? 40 : 60;
  },
  seconds: () => exhaustSeconds[1] + 35,
  admitted: (plan) => eachAdmitted(plan, "serial", plan.minute),
};

/**
 * Starts of the flows, in seconds. Within their minutes, the two starts of a pair lie half a minute apart. The whole
 * allowance is available again at each start, even for a limiter that weighs the previous minute. Flows with many
 * refusals come last: if refusals count, a bucket needs minutes to recover.
 */
const fillSeconds = [0, 150] as const;
const exhaustSeconds = [236, 326] as const;

type FlowNames = readonly [many: string, few: string];

/**
 * Sends sequentially until nothing can be left, then rechecks, since a bucket refills. The recheck is only a few
 * requests, because refusals may count.
 */
function exhaustAndRecheck(limits: ScenarioLimits, [many, few]: FlowNames, afterSeconds: number): Flow[] {
  const recheck = flow(few, invoke, { kind: "in turn", requests: 3 }, { afterSeconds: afterSeconds + 15 });
  return [
    flow(many, invoke, { kind: "in turn", requests: maxAdmitted(limits) + 3 }, { afterSeconds }),
    ...repeatEvery(10, 2, recheck),
  ];
}

/** Nearly fills the minute, then sends single requests with pauses, so that a slot that is freed late cannot explain a refusal. */
function fillAndOverrun({ perMinute }: ScenarioLimits, [many, few]: FlowNames, afterSeconds: number): Flow[] {
  const single = flow(few, invoke, { kind: "in turn", requests: 1 }, { afterSeconds: afterSeconds + 8 });
  return [
    flow(many, invoke, { kind: "in turn", requests: Math.max(1, perMinute - 2) }, { afterSeconds }),
    ...repeatEvery(4, 5, single),
  ];
}

/** The document does not say what the burst allowance adds to the minute: it may be all of it. */
const maxAdmitted = ({ perMinute, burst }: ScenarioLimits): number => perMinute + (burst ?? perMinute);
