import { type TierLimits, tierNames } from "../src/spec/tiers.ts";
import type { Flow, Scenario } from "./scenario.ts";
import { flow, invoke, repeatEvery } from "./traffic.ts";

/**
 * A minute used up four times, each time where none of the minutes before is left: twice by just more than its number, and twice by more than
 * minute and burst can allow together. Of each pair one lies within a single fixed minute, wherever its minutes end.
 */
export const minuteLimit: Scenario = {
  name: "minute-limit",
  title: "the requests of a minute: exactly as many as the tier allows, also over the minute's end",
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
  tiers: tierNames,
  engines: ["autocannon", "k6"],
  enterpriseLimits: null,
  needs: [],
  flows: (limits) => [
    ...exact(limits, ["few", "single"], exactSeconds[0]),
    ...exact(limits, ["few-2", "single-2"], exactSeconds[1]),
    ...over(limits, ["serial", "again"], overSeconds[0]),
    ...over(limits, ["serial-2", "again-2"], overSeconds[1]),
  ],
  // Slow enough that a row of requests takes a part of a minute, also on a busy machine. Of a burst that is not shown nothing sharp can be told.
  speed: ({ perMinute, burst }) => {
    if (burst === null) return 100;
    return perMinute <= 100 ? 40 : 60;
  },
  seconds: () => overSeconds[1] + 35,
};

/**
 * Seconds after the start. The second of a pair lies half a minute aside, and by then all that was used before has come back, also of a limiter
 * that weighs the minute before. What is refused much comes last: refusals may count, and a bucket may be in debt for them for minutes.
 */
const exactSeconds = [0, 150] as const;
const overSeconds = [236, 326] as const;

type Names = readonly [many: string, few: string];

/** One by one until nothing can be left, and a few again after some seconds: of a bucket, some would have come back. Few, as refusals may count. */
function over(limits: TierLimits, [many, few]: Names, afterSeconds: number): Flow[] {
  const again = flow(few, invoke, { kind: "in turn", requests: 3 }, { afterSeconds: afterSeconds + 15 });
  return [
    flow(many, invoke, { kind: "in turn", requests: mostAdmitted(limits) + 3 }, { afterSeconds }),
    ...repeatEvery(2, again, 10),
  ];
}

/** The last ones singly, so that no slot which comes back late explains that one is refused. */
function exact({ perMinute }: TierLimits, [many, few]: Names, afterSeconds: number): Flow[] {
  const single = flow(few, invoke, { kind: "in turn", requests: 1 }, { afterSeconds: afterSeconds + 8 });
  return [
    flow(many, invoke, { kind: "in turn", requests: Math.max(1, perMinute - 2) }, { afterSeconds }),
    ...repeatEvery(5, single, 4),
  ];
}

/** What the burst allowance adds to the minute is not stated: it may be all of it. */
const mostAdmitted = ({ perMinute, burst }: TierLimits): number => perMinute + (burst ?? perMinute);
