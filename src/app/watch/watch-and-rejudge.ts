import { requirementsOf } from "../../report/model/requirements.ts";
import { assertOpenFiles } from "../../base/open-files.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { Secret } from "../../evidence/redaction.ts";
import type { Receiver } from "../../receiver/receiver.ts";
import type { Report } from "../../report/model/report.ts";
import { type Suite, filterChecks } from "../../run/judge/check.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { suites } from "../../suites/all.ts";
import { type RemainingRetries, type WatchedDeliveries, mergeWatched } from "../../suites/deliveries/watch.ts";
import { rejudgeRun } from "../rejudge.ts";
import { saveRun, type SavedRun } from "../report-folder/saved-run.ts";
import { removeJournal, type WatchState, removeState } from "./watch-files.ts";
import { startWatch } from "./watch.ts";

export interface WatchAndRejudgeOptions {
  readonly folder: string;
  readonly state: WatchState;
  /** The run's receiver, if it still listens; the caller closes it. `null` or absent: a new receiver is started. */
  readonly live?: Receiver | null;
  readonly kept: SavedRun;
  /** Secrets to redact. A delivery may contain them. */
  readonly secrets: readonly Secret[];
  /** Turns skip reasons into sentences for the report. */
  readonly messages: Messages;
  readonly signal: AbortSignal;
  readonly onOutlook: (outlook: RemainingRetries) => void;
  /** Called with a sentence if a delivery could not be written. Default: prints a warning. */
  readonly onLoss?: (sentence: string) => void;
  /** Called once when the receiver listens, before the first report of progress. */
  readonly onListening?: (() => void | Promise<void>) | undefined;
}

/** The result of a watch: which webhook retries are still due, and the new report. */
export interface WatchResult {
  readonly kind: "over" | "interrupted";
  readonly outlook: RemainingRetries;
  readonly kept: SavedRun;
  /** A sentence for the user if the report's folder could not be written; otherwise `null`. */
  readonly problem: string | null;
}

/** Number of connections for which file descriptors must be available, so that the receiver can accept deliveries. */
const minConnections = 32;

/**
 * Listens for webhook deliveries until no retry is due any more, or the signal aborts. Then judges all evidence again,
 * and rewrites the report. A stopped watch can be resumed.
 *
 * @throws {UsageError} if the receiver's address is in use
 * @throws {HarnessLimit} if this process can open too few connections
 */
export async function watchAndRejudge({ kept, messages, ...watching }: WatchAndRejudgeOptions): Promise<WatchResult> {
  assertOpenFiles(minConnections);
  const { folder, state } = watching;
  const { deliveries, probes } = kept.evidence;
  const watch = await startWatch({ ...watching, evidence: { deliveries, probes } });
  const { kind, outlook, watched } = await watch.ended;
  const judged = outlook.kind === "nothing" ? kept : judgeWatched(kept, state, watched, messages);
  const { problem } = saveRun(folder, judged);
  if (kind === "over" && problem === null) deleteWatchFiles(folder);
  return { kind, outlook, kept: judged, problem };
}

/** Judges the evidence of a run together with the deliveries that arrived after the run. */
export function judgeWatched(
  { report, evidence }: SavedRun,
  { epochMs }: WatchState,
  watched: WatchedDeliveries,
  messages: Messages,
): SavedRun {
  const all: Evidence = {
    ...evidence,
    deliveries: watched.deliveries,
    probes: mergeWatched(evidence.probes, watched),
  };
  const finished = new Date(epochMs + watched.untilMs).toISOString();
  const options = { requirements: requirementsOf(report), selected: judgedSuites(report) };
  return { report: { ...rejudgeRun(report, all, messages, options), finished }, evidence: all };
}

/** Returns the checks that the run judged, grouped by suite. */
function judgedSuites({ findings, upcoming }: Report): Suite[] {
  const selected = new Set([...findings, ...upcoming].map(({ check }) => check));
  return filterChecks(suites, ({ id }) => selected.has(id));
}

/**
 * Deletes `watch.json` and `watch.jsonl` after a finished watch, because the report's folder now contains all
 * deliveries.
 */
export function deleteWatchFiles(folder: string): void {
  removeState(folder);
  removeJournal(folder);
}
