import type { Target } from "../../target/target.ts";
import type { ProbeRun } from "../probe-run.ts";
import type { Client } from "../send/client.ts";
import type { Recorder } from "../send/recorder.ts";
import { SkipError } from "../skip-reason.ts";
import type { RunClock } from "../time/run-clock.ts";
import type { Disturbance } from "./disturbance.ts";
import { announceRun } from "./other-runs.ts";
import { findForeignUse } from "./foreign-use.ts";
import { findRefusedKeys } from "./refused-keys.ts";
import { watchStalls } from "./stalls.ts";

/** Collects the disturbances of a run, from its start on. */
export interface DisturbanceWatch {
  /** Must be called when a probe ends, to remember the time. */
  readonly ended: (run: ProbeRun) => void;
  /**
   * Returns when a probe ended, in milliseconds since the start of the run. `Infinity` for a probe whose end was not
   * reported.
   */
  readonly endedMs: (run: ProbeRun) => number;
  /**
   * Returns all disturbances so far. Repeats a request with each key that may have been revoked. If it finds no
   * disturbance, but `limitsBroken` returns `true`, also sends health requests to find out whether another client uses
   * the keys.
   */
  readonly find: (target: Target, sending: SearchTools, limitsBroken: () => boolean) => Promise<readonly Disturbance[]>;
  readonly close: () => void;
}

interface SearchTools {
  readonly client: Client;
  readonly recorder: Recorder;
  /** Aborts when the run is stopped. */
  readonly signal: AbortSignal;
}

interface WatchOptions {
  readonly target: Target;
  readonly time: RunClock;
  /** Whether the run uses simulated time. */
  readonly isSimulated: boolean;
  /** Whether to announce the run on this machine, and to look for other runs and clients that use the same keys. */
  readonly announces: boolean;
}

export function watchDisturbances({ target, time, isSimulated, announces }: WatchOptions): DisturbanceWatch {
  const startedUnixMs = Date.now() - time.now();
  const stalls = isSimulated ? null : watchStalls(performance.now() - time.now());
  const announced = announces ? announceRun(target) : null;
  const endings = new Map<ProbeRun, number>();
  const shared = (): Disturbance[] => {
    const found = announced?.shared() ?? null;
    if (found === null) return [];
    return [
      { kind: "keys shared", by: "another run", fromMs: Math.max(0, found.sinceMs - startedUnixMs), keys: found.keys },
    ];
  };
  return {
    ended: (run) => void endings.set(run, time.now()),
    endedMs: (run) => endings.get(run) ?? Infinity,
    find: async (known, { client, recorder, signal }, limitsBroken) => {
      const refused = await noneIfSkipped(findRefusedKeys(known, client, recorder), signal);
      const ofRuns = [...refused, ...(stalls?.all() ?? []), ...shared()];
      const isInDoubt = announces && !isSimulated && ofRuns.length === 0 && limitsBroken();
      const agent = known.agents.answering;
      if (!isInDoubt || agent === undefined) return ofRuns;
      const keys = Object.values(known.keys).filter(
        ({ name, expired }) => !expired && recorder.samplesOf(name).length > 0,
      );
      return noneIfSkipped(findForeignUse({ keys, health: (key) => client.as(key).health(agent), time }), signal);
    },
    close: () => {
      stalls?.close();
      announced?.close();
    },
  };
}

/** Waits for a search. Returns no disturbance if the search failed because the run may send no more requests, or was stopped. */
const noneIfSkipped = (finding: Promise<Disturbance[]>, signal: AbortSignal): Promise<Disturbance[]> =>
  finding.catch((error: unknown) => {
    if (error instanceof SkipError || signal.aborted) return [];
    throw error;
  });
