import type { Secret } from "../../evidence/redaction.ts";
import type { Receiver } from "../../receiver/receiver.ts";
import type { Wording } from "../../run/lack.ts";
import type { RetryOutlook } from "../../suites/deliveries/watching.ts";
import type { KeptRun } from "../folder/kept-run.ts";
import { endWatching, judgeWatched, keepWatched } from "./finish.ts";
import type { WatchState } from "./state.ts";
import { startWatch } from "./watch.ts";

export interface WatchingOn {
  readonly folder: string;
  readonly state: WatchState;
  /** The run's own receiver, where it listens still. It is the caller's to close. */
  readonly live?: Receiver | null;
  readonly kept: KeptRun;
  /** What must not be written, should the target send it. */
  readonly secrets: readonly Secret[];
  /** In which the report is written again. */
  readonly wording: Wording;
  readonly signal: AbortSignal;
  readonly onOutlook: (outlook: RetryOutlook) => void;
  /** Called once the receiver listens, before the first outlook is told. */
  readonly onListening?: (() => void) | undefined;
}

/** How it ended, how far the schedule had come, and what the report has become. */
export interface WatchedOn {
  readonly kind: "over" | "interrupted";
  readonly outlook: RetryOutlook;
  readonly kept: KeptRun;
}

/**
 * Watches until the retry schedule is over or the signal comes, judges again, and rewrites the report in the folder. What was stopped can be
 * taken up again.
 *
 * @throws {UsageProblem} where the address is taken that the target was given
 */
export async function watchOn({ kept, wording, ...watching }: WatchingOn): Promise<WatchedOn> {
  const { folder, state } = watching;
  const { deliveries, probes } = kept.evidence;
  const watch = await startWatch({ ...watching, seen: { deliveries, probes } });
  const { kind, outlook, watched } = await watch.ended;
  const judged = outlook.kind === "nothing" ? kept : judgeWatched(kept, state, watched, wording);
  keepWatched(folder, judged);
  if (kind === "over") endWatching(folder);
  return { kind, outlook, kept: judged };
}
