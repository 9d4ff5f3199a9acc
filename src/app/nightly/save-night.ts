import { existsSync } from "node:fs";
import { join } from "node:path";

import { type NightJudgement, judgeNight, reportedByNight } from "../../report/history/gate/judge-night.ts";
import type { Night } from "../../report/history/night.ts";
import type { DamagedNight, NightHistory } from "../../report/history/night.ts";
import { prune, readHistory, reportFolder, trendFile, writeNight } from "./history-store.ts";
import { renderTrendPage } from "../../report/history/trend/page.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { renderHtml } from "../../report/html/render.ts";
import { replaceFile, writeFiles } from "../report-folder/write-files.ts";
import type { ExecutedNight } from "./execute-night.ts";
import type { RunNightOptions } from "./night-options.ts";

/** What a night came to. */
export interface SavedNight {
  readonly kind: "kept";
  readonly night: Night;
  readonly judgement: NightJudgement;
  readonly executed: ExecutedNight;
  /** Nights of the history, this one included. */
  readonly nights: number;
  readonly damaged: readonly DamagedNight[];
  /** Folder of the night's reports; `null` where they are not kept. */
  readonly reports: string | null;
}

/** Judges a night against the history, keeps it there, and writes the pages. */
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
  // Another job may have written its night meanwhile.
  const history = readHistory(folder, Date.now());
  replaceFile(join(folder, trendFile), renderTrendPage(history, { hasReports: (night) => hasReport(folder, night) }));
  if (page !== null) replaceFile(page, renderTrendPage(history, { hasReports: () => false }));
}

const hasReport = (folder: string, { id }: Night): boolean => existsSync(join(reportFolder(folder, id), "run"));
