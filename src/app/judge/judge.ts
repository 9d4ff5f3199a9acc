import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { Patch } from "../../reference/patch.ts";
import { unselectedMusts, type RunScope } from "../../run/plan/selection.ts";
import { suites as allSuites } from "../../suites/all.ts";
import type { Target } from "../../target/target.ts";
import { runAndRedact, type RedactedRun } from "./redacted-run.ts";

/** How a run goes on, for whoever shows it. */
export interface RunEvents {
  /** The target is known, and nothing was sent to it yet. */
  readonly onStart?: (target: Target) => void;
  readonly onPlan?: (probes: number) => void;
  readonly onProbe?: (probe: string) => void;
  readonly onWait?: (ms: number, why: string) => void;
}

export interface JudgeTargetOptions extends RunScope {
  /** `null`: the embedded reference server, started for this run alone. */
  readonly target: Target | null;
  /** What the embedded server does otherwise than it should or could. */
  readonly patches: readonly Patch[];
  /** The receiver of deliveries is left open, for its user to go on with and to close. Default `false`. */
  readonly keepsListening?: boolean;
  /** Ends the run early; what was seen so far is judged. */
  readonly signal: AbortSignal;
  readonly events: RunEvents;
}

/** What came of a run, and the target that it was of. */
export type JudgedTarget = RedactedRun & { readonly target: Target };

/** Judges a target by the suites that were selected, or the embedded server. Nothing is written. */
export async function judge({ target: named, patches, events, ...options }: JudgeTargetOptions): Promise<JudgedTarget> {
  const { target, close } = named === null ? await startEmbedded(patches) : { target: named, close: nothing };
  try {
    events.onStart?.(target);
    const session = await runAndRedact(
      {
        ...options,
        target,
        onPlan: (probes) => events.onPlan?.(probes),
        onProbe: ({ planned }) => events.onProbe?.(planned.probe.name),
        onWait: (ms, why) => events.onWait?.(ms, why),
      },
      unselectedMusts(allSuites, options.suites),
    );
    return { ...session, target };
  } finally {
    await close();
  }
}

const nothing = async (): Promise<void> => {};
