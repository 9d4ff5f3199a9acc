import { assertOpenFiles } from "../../base/open-files.ts";
import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { Patch } from "../../reference/patch.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { unselectedMusts, type RunScope } from "../../run/plan/selection.ts";
import { suites as allSuites } from "../../suites/all.ts";
import type { PublishedTier } from "../../spec/tiers.ts";
import type { Target } from "../../target/target.ts";
import { runAndRedact, type RedactedRun } from "./redacted-run.ts";

/** Progress of a run. */
export interface RunEvents {
  /** Called before the first request. */
  readonly onStart?: (target: Target) => void;
  readonly onPlan?: (probes: number) => void;
  readonly onProbe?: (probe: string) => void;
  readonly onWait?: (ms: number, why: string) => void;
  /** Called if the headers do not show the tier of the main key. May return the tier. */
  readonly onUnknownTier?: (keyName: string) => Promise<PublishedTier | null>;
}

export interface JudgeTargetOptions extends RunScope {
  /** `null` stands for the embedded reference server, started for this run alone. */
  readonly target: Target | null;
  /** Faults and variants of the embedded server. */
  readonly patches: readonly Patch[];
  /** Leaves the webhook receiver open after the run; the caller closes it. Default: `false`. */
  readonly keepsListening?: boolean;
  /** Ends the run early. The evidence so far is judged. */
  readonly signal: AbortSignal;
  readonly events: RunEvents;
}

/** The result of a run, with its target. */
export type JudgedTarget = RedactedRun & { readonly target: Target };

/** Maximum connections of a run against the embedded server. Both ends of each connection are in this process. */
const embeddedConnections = 128;
/** Maximum connections of a run against another target, without those that test the concurrency limit of a key. */
const otherConnections = 32;

/** Maximum number of connections that a run may open at the same time. */
export const connectionsOfRun = (target: Target | null): number =>
  target === null
    ? embeddedConnections
    : otherConnections +
      Math.max(0, ...Object.values(target.keys).map((key) => limitsOf(key, target)?.concurrent ?? 0));

/**
 * Judges a target, or the embedded server, with the selected suites. Writes no files.
 *
 * @throws {HarnessLimit} if this process cannot open as many connections as the run may need
 */
export async function judge({ target: named, patches, events, ...options }: JudgeTargetOptions): Promise<JudgedTarget> {
  assertOpenFiles(connectionsOfRun(named));
  const { target, close } = named === null ? await startEmbedded(patches) : { target: named, close: nothing };
  try {
    events.onStart?.(target);
    const session = await runAndRedact(
      {
        ...options,
        target,
        // The run looks for other runs that use the same keys. Nobody else can use the keys of the embedded server.
        announces: named !== null,
        onPlan: (probes) => events.onPlan?.(probes),
        onProbe: ({ planned }) => events.onProbe?.(planned.probe.name),
        onWait: (ms, why) => events.onWait?.(ms, why),
        ...(events.onUnknownTier && { onUnknownTier: events.onUnknownTier }),
      },
      unselectedMusts(allSuites, options.suites, options.requirements),
    );
    return { ...session, target };
  } finally {
    await close();
  }
}

const nothing = async (): Promise<void> => {};
