import type { ProbeRun, ProbeRunResult } from "./probe-run.ts";
import type { PlannedProbe } from "./plan/plan.ts";
import type { OutageMonitor } from "./send/outages.ts";

/** A probe that outages interrupt this often is not run again. */
const maxInterruptions = 2;

/** Tracks which probes are interrupted by an outage of the target. */
export interface Interruptions {
  /** Notes that a probe begins. */
  readonly begin: (each: PlannedProbe) => void;
  /**
   * The result of a probe that has ended. `null` if an outage interrupted the probe, and it has to run again: a target
   * that was restarted may have forgotten what the probe began with.
   */
  readonly resultOf: (each: PlannedProbe, result: ProbeRunResult) => ProbeRunResult | null;
  /** Whether a probe has to run again. If so, it counts as taken, and `next` no longer returns it. */
  readonly takes: (each: PlannedProbe) => boolean;
  /** Returns the next probe to run again. */
  readonly next: () => PlannedProbe | undefined;
  /** Finished probes whose checks judge what happens after their end, if an outage began in the meantime. */
  readonly outdated: (runs: Iterable<ProbeRun>) => PlannedProbe[];
  /** The result of a probe that was not run again. */
  readonly lost: () => ProbeRunResult;
  /** Why checks were left unproven by outages. `null` if none were. */
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
      // A probe that sends nothing reads recorded evidence, which an outage does not change.
      if (begunAt.get(each) === outages.count() || each.skip !== null || each.probe.stage === "review") return result;
      if (outages.isDead()) return lost();
      const count = (counts.get(each) ?? 0) + 1;
      counts.set(each, count);
      if (count >= maxInterruptions) return lost();
      waiting.push(each);
      return null;
    },
    takes: (each) => {
      const at = waiting.indexOf(each);
      if (at !== -1) waiting.splice(at, 1);
      return at !== -1;
    },
    next: () => waiting.shift(),
    lost,
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
