import type { Target } from "../../target/target.ts";
import type { ProbeRun } from "../probe-run.ts";
import type { Client } from "../send/client.ts";
import type { Recorder } from "../send/recorder.ts";
import { SkipError } from "../skip-reason.ts";
import type { RunClock } from "../time/run-clock.ts";
import type { Disturbance } from "./disturbance.ts";
import { announceRun } from "./other-runs.ts";
import { findRefusedKeys } from "./refused-keys.ts";
import { watchStalls } from "./stalls.ts";

/** Notices what disturbs a run from its start on. */
export interface DisturbanceWatch {
  /** Remembers when a probe ended. */
  readonly ended: (run: ProbeRun) => void;
  /**
   * When a probe ended, in milliseconds since the start of the run. `Infinity` for a probe of the review, which runs
   * last.
   */
  readonly endedMs: (run: ProbeRun) => number;
  /** All disturbances so far. Sends a request for each key that may have been revoked. */
  readonly find: (target: Target, client: Client, recorder: Recorder) => Promise<readonly Disturbance[]>;
  readonly close: () => void;
}

interface WatchOptions {
  readonly target: Target;
  readonly time: RunClock;
  /** Whether the run lives on simulated time. */
  readonly isSimulated: boolean;
  /** Whether to look out for other runs. */
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
    return [{ kind: "keys shared", fromMs: Math.max(0, found.sinceMs - startedUnixMs), keys: found.keys }];
  };
  return {
    ended: (run) => void endings.set(run, time.now()),
    endedMs: (run) => endings.get(run) ?? Infinity,
    find: async (known, client, recorder) => {
      const refused = await findRefusedKeys(known, client, recorder).catch((error: unknown) => {
        // The run may send nothing more.
        if (error instanceof SkipError) return [];
        throw error;
      });
      return [...refused, ...(stalls?.all() ?? []), ...shared()];
    },
    close: () => {
      stalls?.close();
      announced?.close();
    },
  };
}
