import type { Secret } from "../../evidence/redaction.ts";
import type { Receiver } from "../../receiver/receiver.ts";
import type { Messages } from "../../run/skip-reason.ts";
import type { RemainingRetries } from "../../suites/deliveries/watch.ts";
import type { SavedRun } from "../report-folder/saved-run.ts";
import { endWatching, judgeWatched, keepWatched } from "./finish.ts";
import type { WatchState } from "./state.ts";
import { startWatch } from "./watch.ts";

export interface WatchAndRejudgeOptions {
  readonly folder: string;
  readonly state: WatchState;
  /** The run's own receiver, where it listens still. It is the caller's to close. */
  readonly live?: Receiver | null;
  readonly kept: SavedRun;
  /** What must not be written, should the target send it. */
  readonly secrets: readonly Secret[];
  /** In which the report is written again. */
  readonly messages: Messages;
  readonly signal: AbortSignal;
  readonly onOutlook: (outlook: RemainingRetries) => void;
  /** Called once the receiver listens, before the first outlook is told. */
  readonly onListening?: (() => void) | undefined;
}

/** How it ended, how far the schedule had come, and what the report has become. */
export interface WatchResult {
  readonly kind: "over" | "interrupted";
  readonly outlook: RemainingRetries;
  readonly kept: SavedRun;
}

/**
 * Watches until the retry schedule is over or the signal comes, judges again, and rewrites the report in the folder. What was stopped can be
 * taken up again.
 *
 * @throws {UsageProblem} where the address is taken that the target was given
 */
export async function watchAndRejudge({ kept, messages, ...watching }: WatchAndRejudgeOptions): Promise<WatchResult> {
  const { folder, state } = watching;
  const { deliveries, probes } = kept.evidence;
  const watch = await startWatch({ ...watching, seen: { deliveries, probes } });
  const { kind, outlook, watched } = await watch.ended;
  const judged = outlook.kind === "nothing" ? kept : judgeWatched(kept, state, watched, messages);
  keepWatched(folder, judged);
  if (kind === "over") endWatching(folder);
  return { kind, outlook, kept: judged };
}
