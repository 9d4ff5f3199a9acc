import { requirementsOf } from "../../report/model/requirements.ts";
import { assertOpenFiles } from "../../base/open-files.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { Report } from "../../report/model/report.ts";
import { type Suite, filterChecks } from "../../run/judge/check.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { suites } from "../../suites/all.ts";
import { type RemainingRetries, type WatchedDeliveries, mergeWatched } from "../../suites/deliveries/watch.ts";
import { rejudgeRun } from "../rejudge.ts";
import { saveRun, type SavedRun } from "../report-folder/saved-run.ts";
import { deleteWatchFiles, type WatchState } from "./watch-files.ts";
import { startWatch, type WatchOptions } from "./watch.ts";

export interface WatchAndRejudgeOptions extends Omit<WatchOptions, "evidence" | "timers"> {
  readonly kept: SavedRun;
  readonly messages: Messages;
}

export interface WatchResult {
  readonly kind: "over" | "interrupted";
  readonly outlook: RemainingRetries;
  readonly kept: SavedRun;
  readonly problem: string | null;
}

/** Minimum number of connections that the receiver needs to accept deliveries. */
const minConnections = 32;

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

function judgedSuites({ findings, upcoming }: Report): Suite[] {
  const selected = new Set([...findings, ...upcoming].map(({ check }) => check));
  return filterChecks(suites, ({ id }) => selected.has(id));
}
