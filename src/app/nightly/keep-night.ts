import { existsSync } from "node:fs";
import { join } from "node:path";

import { type NightJudgement, judgeNight, reportedOf } from "../../history/gate/judge-night.ts";
import type { Night } from "../../history/night.ts";
import {
  type DamagedNight,
  type NightHistory,
  prune,
  readHistory,
  reportIn,
  trendFile,
  writeNight,
} from "../../history/store.ts";
import { trendPage } from "../../history/trend/page.ts";
import type { ReportDocument } from "../../report/report.ts";
import { renderHtml } from "../../report/html/render.ts";
import { replaceFile, writeFiles } from "../folder/write-files.ts";
import type { LivedNight } from "./live-night.ts";
import type { RunNightOptions } from "./night-options.ts";

/** What a night came to. */
export interface KeptNight {
  readonly kind: "kept";
  readonly night: Night;
  readonly judgement: NightJudgement;
  readonly lived: LivedNight;
  /** Nights of the history, this one included. */
  readonly nights: number;
  readonly damaged: readonly DamagedNight[];
  /** Folder of the night's reports; `null` where they are not kept. */
  readonly reports: string | null;
}

/** Judges a night against the history, keeps it there, and writes the pages. */
export function keepNight(lived: LivedNight, before: NightHistory, options: RunNightOptions): KeptNight {
  const { history, keep, rules } = options;
  const judgement = judgeNight(before.nights, lived.night, rules);
  const night: Night = { ...lived.night, reported: reportedOf(judgement) };
  writeNight(history, night);
  prune(history, keep);
  writePages(lived, night, options);
  return {
    kind: "kept",
    night,
    judgement,
    lived,
    nights: before.nights.length + 1,
    damaged: before.damaged,
    reports: hasReport(history, night) ? reportIn(history, night.id) : null,
  };
}

function writePages({ run, load }: LivedNight, { id }: Night, { history: folder, page, view }: RunNightOptions): void {
  const writeReportPage = (part: "run" | "load", document: ReportDocument | null): void => {
    if (document === null) return;
    const { problem } = writeFiles(join(reportIn(folder, id), part), { "report.html": renderHtml(document) });
    if (problem !== null) view.load.problem(problem);
  };
  writeReportPage("run", run);
  writeReportPage("load", load);
  // Another job may have written its night meanwhile.
  const history = readHistory(folder, Date.now());
  replaceFile(join(folder, trendFile), trendPage(history, { hasReports: (night) => hasReport(folder, night) }));
  if (page !== null) replaceFile(page, trendPage(history, { hasReports: () => false }));
}

const hasReport = (folder: string, { id }: Night): boolean => existsSync(join(reportIn(folder, id), "run"));
