import { assertOpenFiles } from "../../base/open-files.ts";
import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { Patch } from "../../reference/patch.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { unselectedMusts, type RunScope } from "../../run/plan/selection.ts";
import { suites as allSuites } from "../../suites/all.ts";
import type { PublishedTier } from "../../spec/tiers.ts";
import type { Target } from "../../target/target.ts";
import { withControlParts } from "../../target/test-control.ts";
import { runAndRedact, type RedactedRun } from "./redacted-run.ts";

/** Callbacks that report the progress of a run. */
export interface RunEvents {
  /** Called before the first request. */
  readonly onStart?: (target: Target) => void;
  readonly onPlan?: (probes: number) => void;
  readonly onProbe?: (probe: string) => void;
  readonly onWait?: (ms: number, why: string) => void;
  /** Called if the headers do not reveal the tier of the main key. May ask the user, and return the tier. */
  readonly onUnknownTier?: (keyName: string) => Promise<PublishedTier | null>;
}

export interface JudgeTargetOptions extends RunScope {
  /** The target to judge. `null`: the embedded reference server, started for this run alone. */
  readonly target: Target | null;
  /** Faults and variants to apply to the embedded server. */
  readonly patches: readonly Patch[];
  /** Whether the webhook receiver stays open after the run, to be closed by the caller. Default: `false`. */
  readonly keepsListening?: boolean;
  /** When this signal aborts, the run ends early and judges the evidence that it has. */
  readonly signal: AbortSignal;
  readonly events: RunEvents;
}

/** The result of a run, and the target that was judged. */
export type JudgedTarget = RedactedRun & { readonly target: Target };

/**
 * Maximum number of connections of a run against the embedded server. Each needs two file descriptors here, because client and server share
 * this process.
 */
const maxEmbeddedConnections = 128;
/** Maximum number of connections of a run against any other target. Tests of a key's concurrency limit may open more. */
const maxTargetConnections = 32;

/** Maximum number of connections that a run may open at the same time. */
export const connectionsOfRun = (target: Target | null): number =>
  target === null
    ? maxEmbeddedConnections
    : maxTargetConnections +
      Math.max(0, ...Object.values(target.keys).map((key) => limitsOf(key, target)?.concurrent ?? 0));

/**
 * Judges a target, or the embedded server, with the selected suites. Writes no files.
 *
 * @throws {HarnessLimit} if this process cannot open as many connections as the run may need
 */
export async function judge({ target: named, patches, events, ...options }: JudgeTargetOptions): Promise<JudgedTarget> {
  assertOpenFiles(connectionsOfRun(named));
  const { target: listed, close } =
    named === null ? await startEmbedded(patches) : { target: named, close: keepNothing };
  try {
    // Keys that a test control issues are secrets of the target, so they must be known before anything is redacted.
    const provided = await withControlParts(listed, "issue");
    const target = provided.kind === "provided" ? provided.target : listed;
    events.onStart?.(target);
    const session = await runAndRedact(
      {
        ...options,
        target,
        // A run announces its keys, so that another run with the same keys is noticed. Nobody else has the embedded server's keys.
        announces: named !== null,
        onPlan: (probes) => events.onPlan?.(probes),
        onProbe: ({ planned }) => events.onProbe?.(planned.probe.name),
        onWait: (ms, why) => events.onWait?.(ms, why),
        ...(provided.kind === "failed" && { obstacle: provided.sentence }),
        ...(events.onUnknownTier && { onUnknownTier: events.onUnknownTier }),
      },
      unselectedMusts(allSuites, options.suites, options.requirements),
    );
    return { ...session, target };
  } finally {
    await close();
  }
}

const keepNothing = async (): Promise<void> => {};
