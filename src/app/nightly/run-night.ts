import { defaultLoadParameters, assertLoadParameters } from "../load/plan-load.ts";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { judgeNight, reportedByNight } from "../../report/history/gate/judge-night.ts";
import type { Night, DamagedNight, NightHistory } from "../../report/history/night.ts";
import {
  newNightId,
  readHistory,
  pruneHistory,
  removeReports,
  reportFolder,
  trendPageFile,
  writeNight,
} from "./history-store.ts";
import { renderTrendPage } from "../../report/history/trend/page.ts";
import { renderHtml } from "../../report/html/render-html.ts";
import { writeFiles } from "../report-folder/write-files.ts";
import {
  executeNight,
  type ExecutedNight,
  type JudgedNight,
  historyNameOf,
  type RunNightOptions,
} from "./execute-night.ts";

export async function runNight(options: RunNightOptions): Promise<SavedNight | { readonly kind: "interrupted" }> {
  const { history, target, load, engines, view } = options;
  if (load !== null) assertLoadParameters({ ...defaultLoadParameters, ...load }, target, engines);
  const before = readHistory(history, Date.now());
  assertSameTarget(before.nights.at(-1)?.target.name ?? null, historyNameOf(target), history);
  view.damaged(before.damaged);
  const executed = await executeNight({ ...options, id: newNightId(new Date()), before: before.nights });
  if (!executed.interrupted) return saveNight(executed, before, options);
  removeReports(history, executed.night.id);
  return { kind: "interrupted" };
}

function assertSameTarget(before: string | null, now: string, history: string): void {
  if (before === null || before === now) return;
  throw new UsageError(
    line`${history} is the history of ${JSON.stringify(before)}, and this target is ${JSON.stringify(now)}: give each target a history of its own, or the name that it had.`,
  );
}

export interface SavedNight extends JudgedNight {
  readonly kind: "kept";
  readonly damaged: readonly DamagedNight[];
  readonly reports: string | null;
}

export function saveNight(executed: ExecutedNight, before: NightHistory, options: RunNightOptions): SavedNight {
  const { history, keep, rules, view } = options;
  const judgement = judgeNight(before.nights, executed.night, rules);
  const night: Night = { ...executed.night, reported: reportedByNight(judgement) };
  const judged = { night, judgement, executed, nightCount: before.nights.length + 1 };
  view.judged?.(judged);
  const { problem } = writeNight(history, night);
  if (problem !== null) view.load.problem(problem);
  pruneHistory(history, keep);
  writePages(executed, night, options);
  return {
    ...judged,
    kind: "kept",
    damaged: before.damaged,
    reports: hasReport(history, night) ? reportFolder(history, night.id) : null,
  };
}

function writePages(
  { run, unjudged, load }: ExecutedNight,
  { id }: Night,
  { history: folder, page, view }: RunNightOptions,
): void {
  const write = (file: string, text: string): void => {
    const { problem } = writeFiles(dirname(file), { [basename(file)]: text });
    if (problem !== null) view.load.problem(problem);
  };
  for (const [part, document] of Object.entries({ run: run ?? unjudged, load }))
    if (document !== null) write(join(reportFolder(folder, id), part, "report.html"), renderHtml(document));
  // Reads the history again: another job may have saved a nightly run during this one.
  const history = readHistory(folder, Date.now());
  write(join(folder, trendPageFile), renderTrendPage(history, { hasReports: (night) => hasReport(folder, night) }));
  if (page !== null) write(page, renderTrendPage(history, { hasReports: () => false }));
}

const hasReport = (folder: string, { id }: Night): boolean => existsSync(join(reportFolder(folder, id), "run"));
