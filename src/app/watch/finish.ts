import { join } from "node:path";

import type { Evidence } from "../../evidence/evidence.ts";
import { serializeEvidence, serializeReport } from "../../report/model/report-file.ts";
import type { Report } from "../../report/model/report.ts";
import type { Suite } from "../../run/judge/check.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { suites } from "../../suites/all.ts";
import { type WatchedDeliveries, mergeWatched } from "../../suites/deliveries/watch.ts";
import type { SavedRun } from "../report-folder/saved-run.ts";
import { rejudgeRun } from "../rejudge.ts";
import { replaceFile } from "../report-folder/write-files.ts";
import { removeJournal } from "./journal.ts";
import { removeState, type WatchState } from "./state.ts";

/** Judges again, with what was watched in the evidence of the run. */
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
  return { report: { ...rejudgeRun(report, all, messages, selectedBy(report)), finished }, evidence: all };
}

/** The checks that the run itself has judged. */
function selectedBy({ findings }: Report): Suite[] {
  const selected = new Set(findings.map(({ check }) => check));
  return suites.map((suite) => ({ ...suite, checks: suite.checks.filter(({ id }) => selected.has(id)) }));
}

/** Rewrites the report of a folder. A repetition does no harm. */
export function keepWatched(folder: string, { report, evidence }: SavedRun): void {
  replaceFile(join(folder, "evidence.json"), serializeEvidence(evidence));
  replaceFile(join(folder, "report.json"), serializeReport(report));
}

/** Takes away what it took to go on watching, once it stands in the report. */
export function endWatching(folder: string): void {
  removeState(folder);
  removeJournal(folder);
}
