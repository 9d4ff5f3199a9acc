import { setTimeout as sleep } from "node:timers/promises";

import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import type { TrialObservations } from "../../load/run-trials.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { describeDisturbance, type Disturbance } from "../../run/disturbances/disturbance.ts";
import { findForeignUse } from "../../run/disturbances/foreign-use.ts";
import type { AnnouncedRun } from "../../run/disturbances/other-runs.ts";
import { watchStalls } from "../../run/disturbances/stalls.ts";
import type { ClockControl, Target, TargetKey } from "../../target/target.ts";
import { requestHealth, type FollowingClock } from "./trial-clock.ts";

interface WatchedTrial {
  readonly target: Target;
  readonly keys: readonly TargetKey[];
  readonly announced: AnnouncedRun;
  readonly clock: ClockControl | null;
  readonly inStep: FollowingClock | null;
  /** Whether a lag of the test clock is ignored, as in trials with webhooks. */
  readonly mayLag: boolean;
}

/** Watches for disturbances of a trial: other users of its keys, a stalled machine, or a lagging test clock. */
export function watchForDisturbances({ target, keys, announced, clock, inStep, mayLag }: WatchedTrial) {
  const [startedUnixMs, stalls] = [Date.now(), watchStalls(performance.now())];
  const ofRuns = (): Disturbance[] => {
    const found = announced.shared(startedUnixMs);
    return found === null
      ? []
      : [{ kind: "keys shared", by: "another run", fromMs: found.sinceMs - startedUnixMs, keys: found.keys }];
  };
  const find = async ({ wasAway, limitsBroken }: TrialObservations): Promise<string | null> => {
    const known = [...stalls.all(), ...ofRuns()];
    const problem = wasAway || mayLag ? null : (inStep?.problem() ?? null);
    const isInDoubt = known.length === 0 && problem === null && !wasAway && limitsBroken();
    const health = (key: TargetKey): ReturnType<typeof requestHealth> => requestHealth(target, key);
    const [first] = isInDoubt ? await findForeignUse({ keys, health, time: timeControlFor(clock) }) : known;
    return first === undefined ? problem : describeDisturbance(first);
  };
  return {
    find: async (observations: TrialObservations): Promise<Pick<LoadEvidence, "disturbance" | "clockLagMs">> => {
      const clockLagMs = inStep?.lagMs() ?? 0;
      const disturbance = await find(observations);
      return { ...(disturbance !== null && { disturbance }), ...(clockLagMs > 0 && { clockLagMs }) };
    },
    close: stalls.close,
  };
}

const timeControlFor = (clock: ClockControl | null): Parameters<typeof findForeignUse>[0]["time"] => ({
  canAdvance: clock !== null,
  canWait: (ms) => clock !== null || ms <= minuteOverMs,
  passTime: async (ms) => {
    await (clock === null ? sleep(ms) : clock.advance(ms));
  },
  sleepReal: (ms) => sleep(ms),
});
