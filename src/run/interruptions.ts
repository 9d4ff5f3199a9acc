import type { ProbeRun, ProbeRunResult, PlannedProbe } from "./plan/plan.ts";
import type { OutageMonitor } from "./send/outages.ts";

/** After this many interruptions by outages, a probe does not run again. */
const maxInterruptions = 2;

export interface Interruptions {
  readonly begin: (each: PlannedProbe) => void;
  /** Returns the final result of a probe that has ended; `null` if the probe must run again. */
  readonly resultOf: (each: PlannedProbe, result: ProbeRunResult) => ProbeRunResult | null;
  readonly takeFromRerunList: (each: PlannedProbe) => boolean;
  readonly takeNextToRerun: () => PlannedProbe | undefined;
  /**
   * Returns the `isJudgedLater` probes that an outage has affected, e.g. by preventing webhook retries. These probes
   * must run again.
   */
  readonly outdated: (runs: Iterable<ProbeRun>) => PlannedProbe[];
  readonly lostResult: () => ProbeRunResult;
  readonly reason: () => string | null;
}

export function trackInterruptions(outages: OutageMonitor): Interruptions {
  const begunAt = new Map<PlannedProbe, number>();
  const counts = new Map<PlannedProbe, number>();
  const waiting: PlannedProbe[] = [];
  let isLeft = false;

  const lost = (): ProbeRunResult => {
    isLeft = true;
    return { kind: "skipped", reason: outages.describe() ?? "the target was lost", needs: null };
  };

  return {
    begin: (each) => void begunAt.set(each, outages.count()),
    resultOf: (each, result) => {
      // Probes of the stage `review` only read recorded evidence, which an outage does not change.
      if (begunAt.get(each) === outages.count() || each.skip !== null || each.probe.stage === "review") return result;
      if (outages.isDead()) return lost();
      const count = (counts.get(each) ?? 0) + 1;
      counts.set(each, count);
      if (count >= maxInterruptions) return lost();
      waiting.push(each);
      return null;
    },
    takeFromRerunList: (each) => {
      const at = waiting.indexOf(each);
      if (at !== -1) waiting.splice(at, 1);
      return at !== -1;
    },
    takeNextToRerun: () => waiting.shift(),
    lostResult: lost,
    outdated: (runs) =>
      [...runs].flatMap(({ planned, result }) =>
        planned.probe.per === "target" &&
        planned.probe.isJudgedLater === true &&
        result.kind === "ran" &&
        begunAt.get(planned) !== outages.count()
          ? [planned]
          : [],
      ),
    reason: () => (isLeft || outages.hasSuspects() ? outages.describe() : null),
  };
}
