import { existsSync } from "node:fs";
import { join, relative } from "node:path";

import { type Judgement, judgeNight, reportedOf } from "../../history/gate/judge-night.ts";
import { nightMarkdown } from "../../history/markdown.ts";
import { nightJson } from "../../history/night-json.ts";
import type { Night } from "../../history/night.ts";
import {
  type DamagedNight,
  type History,
  prune,
  readHistory,
  reportIn,
  type Retention,
  trendFile,
  writeNight,
} from "../../history/store.ts";
import { isWorse } from "../../history/summary.ts";
import { renderNight } from "../../history/terminal.ts";
import { trendPage } from "../../history/trend/page.ts";
import type { RegressionRules } from "../../compare/rules.ts";
import type { ReportDocument } from "../../report/document.ts";
import { renderHtml } from "../../report/html/render.ts";
import { counted } from "../../base/text.ts";
import { exitCodeOf } from "../../report/verdict.ts";
import { exitCodes } from "../../cli/exit-codes.ts";
import { replaceFile, writeFiles } from "../folder/write-files.ts";
import { appendStepSummary } from "../../cli/reporting/ci.ts";
import { terminalOf } from "../../cli/terminal-of.ts";
import { findingsOf, type LivedNight } from "./live-night.ts";

/** How a night is told and kept. */
export interface Telling {
  readonly folder: string;
  readonly keep: Retention;
  readonly rules: RegressionRules;
  readonly onlyRegressions: boolean;
  /** Files, each made sure of; `-` prints. `null`: not wanted. */
  readonly json: string | null;
  readonly markdown: string | null;
  readonly html: string | null;
}

/** Judges a night against the history, keeps it, writes the pages, and tells. Gives the exit code. */
export function finishNight(lived: LivedNight, before: History, telling: Telling): number {
  const judgement = judgeNight(before.nights, lived.night, telling.rules);
  const night: Night = { ...lived.night, reported: reportedOf(judgement) };
  writeNight(telling.folder, night);
  prune(telling.folder, telling.keep);
  writePages(lived, night, telling);
  tell(judgement, night, before, telling);
  if (lived.loadProblem !== null) process.stderr.write(`No load was sent: ${lived.loadProblem}\n`);
  return codeOf(lived, judgement, telling);
}

function writePages({ run, load }: LivedNight, { id }: Night, { folder, html }: Telling): void {
  writeReportPage(join(reportIn(folder, id), "run"), run);
  writeReportPage(join(reportIn(folder, id), "load"), load);
  // Another job may have written its night meanwhile.
  const history = readHistory(folder, Date.now());
  replaceFile(join(folder, trendFile), trendPage(history, { hasReports: (night) => hasReport(folder, night) }));
  if (html !== null && html !== "-") replaceFile(html, trendPage(history, { hasReports: () => false }));
}

const hasReport = (folder: string, { id }: Night): boolean => existsSync(join(reportIn(folder, id), "run"));

function writeReportPage(folder: string, document: ReportDocument | null): void {
  if (document === null) return;
  const { problem } = writeFiles(folder, { "report.html": renderHtml(document) });
  if (problem !== null) process.stderr.write(`${problem}\n`);
}

function tell(judgement: Judgement, night: Night, { nights, damaged }: History, telling: Telling): void {
  const count = nights.length + 1;
  const json = nightJson(judgement, night, damaged);
  const markdown = nightMarkdown(judgement, night, count);
  const printed = [printOrWrite(telling.json, json), printOrWrite(telling.markdown, markdown)];
  appendStepSummary(() => markdown);
  const { look, write } = terminalOf(printed.includes(true) ? process.stderr : process.stdout);
  write(renderNight(judgement, night, { ...look, nights: count }));
  if (hasReport(telling.folder, night)) write(`report  ${nearer(reportIn(telling.folder, night.id))}\n`);
  write(`trend   ${nearer(join(telling.folder, trendFile))}\n`);
  if (night.findings.length === 0 && night.stopped !== null) process.stderr.write(`${night.stopped}\n`);
}

/** Whether it was printed. */
function printOrWrite(file: string | null, text: string): boolean {
  if (file === "-") process.stdout.write(text);
  else if (file !== null) replaceFile(file, text);
  return file === "-";
}

function nearer(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith("..") ? path : near;
}

function codeOf(lived: LivedNight, judgement: Judgement, { onlyRegressions }: Telling): number {
  if (lived.run === null) return exitCodes.nothingExercised;
  if (isWorse(judgement)) return exitCodes.broken;
  const findings = findingsOf(lived);
  const judged = onlyRegressions ? findings.filter(({ outcome }) => outcome !== "fail") : findings;
  const code = exitCodeOf({ findings: judged, unselected: [] }, { strict: false, complete: false });
  if (code !== exitCodes.fine) return code;
  return lived.night.verdict === "incomplete" ? exitCodes.nothingExercised : exitCodes.fine;
}

const mostDamaged = 20;

/** Entries that cannot be read are told before anything is sent. */
export function tellDamaged(damaged: readonly DamagedNight[]): void {
  for (const { file, problem } of damaged.slice(0, mostDamaged))
    process.stderr.write(`Left out of the history: ${nearer(file)}: ${problem}. It stays where it is.\n`);
  const more = damaged.length - mostDamaged;
  if (more > 0) process.stderr.write(`Left out of the history, too: ${counted(more, "more file")}.\n`);
}
