import { existsSync } from "node:fs";
import { join } from "node:path";

import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { type NightJudgement, judgeNight, reportedByNight } from "../../report/history/gate/judge-night.ts";
import type { Night } from "../../report/history/night.ts";
import { nightId, readHistory, prune, reportFolder, trendFile, writeNight } from "./history-store.ts";
import type { DamagedNight, NightHistory } from "../../report/history/night.ts";
import { renderTrendPage } from "../../report/history/trend/page.ts";
import { renderHtml } from "../../report/html/render.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { assertLoadParameters } from "../load/plan-load.ts";
import { replaceFile, writeFiles } from "../report-folder/write-files.ts";
import { executeNight, nameOf, type RunNightOptions, type ExecutedNight } from "./execute-night.ts";

/**
 * Runs the suites and the load, compares the night with earlier nights, and saves it in the history. An interrupted night is not saved.
 *
 * @throws {UsageError} if the history is another target's
 * @throws {UnsendableLoadError} if the load parameters are invalid; nothing was sent then
 */
export async function runNight(options: RunNightOptions): Promise<SavedNight | { readonly kind: "interrupted" }> {
  const { history, target, load, engines, view } = options;
  if (load !== null) assertLoadParameters({ ...load, maxRequests: Number.POSITIVE_INFINITY }, target, engines);
  const before = readHistory(history, Date.now());
  assertSameTarget(before.nights.at(-1)?.target.name ?? null, nameOf(target), history);
  view.damaged(before.damaged);
  const lived = await executeNight({ ...options, id: nightId(new Date()), before: before.nights });
  return lived.interrupted ? { kind: "interrupted" } : saveNight(lived, before, options);
}

/** A history holds one target: nights of two targets would look like regressions. */
function assertSameTarget(before: string | null, now: string, history: string): void {
  if (before === null || before === now) return;
  throw new UsageError(
    line`${history} is the history of ${JSON.stringify(before)}, and this target is ${JSON.stringify(now)}: give each target a history of its own, or the name that it had.`,
  );
}

/** A night in the history, with its judgement. */
export interface SavedNight {
  readonly kind: "kept";
  readonly night: Night;
  readonly judgement: NightJudgement;
  readonly executed: ExecutedNight;
  /** Number of nights in the history, including this one. */
  readonly nights: number;
  readonly damaged: readonly DamagedNight[];
  /** Folder of the night's reports; `null` if they are not kept. */
  readonly reports: string | null;
}

/** Compares a night with the history, saves it, and writes the pages. */
export function saveNight(executed: ExecutedNight, before: NightHistory, options: RunNightOptions): SavedNight {
  const { history, keep, rules } = options;
  const judgement = judgeNight(before.nights, executed.night, rules);
  const night: Night = { ...executed.night, reported: reportedByNight(judgement) };
  writeNight(history, night);
  prune(history, keep);
  writePages(executed, night, options);
  return {
    kind: "kept",
    night,
    judgement,
    executed,
    nights: before.nights.length + 1,
    damaged: before.damaged,
    reports: hasReport(history, night) ? reportFolder(history, night.id) : null,
  };
}

function writePages(
  { run, load }: ExecutedNight,
  { id }: Night,
  { history: folder, page, view }: RunNightOptions,
): void {
  const writeReportPage = (part: "run" | "load", document: ReportDocument | null): void => {
    if (document === null) return;
    const { problem } = writeFiles(join(reportFolder(folder, id), part), { "report.html": renderHtml(document) });
    if (problem !== null) view.load.problem(problem);
  };
  writeReportPage("run", run);
  writeReportPage("load", load);
  // Read again: another job may have written a night meanwhile.
  const history = readHistory(folder, Date.now());
  replaceFile(join(folder, trendFile), renderTrendPage(history, { hasReports: (night) => hasReport(folder, night) }));
  if (page !== null) replaceFile(page, renderTrendPage(history, { hasReports: () => false }));
}

const hasReport = (folder: string, { id }: Night): boolean => existsSync(join(reportFolder(folder, id), "run"));
