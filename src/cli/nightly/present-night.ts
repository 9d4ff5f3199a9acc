import { join } from "node:path";

import type { NightEvents } from "../../app/nightly/execute-night.ts";
import type { SavedNight } from "../../app/nightly/run-night.ts";
import { type OutputFiles, writeOutput } from "../../app/report-folder/write-files.ts";
import { formatCount } from "../../base/text.ts";
import { renderNightJson, renderNightMarkdown, renderNightTerminal } from "../../report/history/render-night.ts";
import { trendPageFile } from "../../app/nightly/history-store.ts";
import type { DamagedNight } from "../../report/history/night.ts";
import { hasNewRegression } from "../../report/history/summary.ts";
import { exitCodeOf } from "../../report/model/verdict.ts";
import { decisiveExitCode, exitCodes } from "../exit-codes.ts";
import { registerSecrets } from "../harness-errors.ts";
import { formatNotSentReason, notSentExitCode } from "../load/not-sent.ts";
import { showLoadProgress } from "../load/progress.ts";
import { reportUnwrittenOutput } from "../lost-outputs.ts";
import { displayPath } from "../output-files.ts";
import { showRunProgress } from "../progress.ts";
import { appendStepSummary } from "../report/present-report.ts";
import { terminalOf } from "../terminal.ts";
import { line } from "../../base/line.ts";
import { printLine, printText } from "../print-line.ts";

const print = printText;

/** Prints the progress of a nightly run. Also prints its verdict, before the night is saved in the history. */
export function nightEvents(isQuiet: boolean, { isStdoutTaken }: Pick<NightOutputs, "isStdoutTaken">): NightEvents {
  return {
    damaged: printDamaged,
    run: showRunProgress(isQuiet),
    load: {
      ...showLoadProgress(process.stderr, isQuiet),
      planned: (_, target) => void registerSecrets(target),
      problem: reportUnwrittenOutput,
    },
    judged: ({ judgement, night, nightCount }) => {
      const { style, write } = terminalOf(isStdoutTaken ? process.stderr : process.stdout);
      write(renderNightTerminal(judgement, night, { ...style, nights: nightCount }));
    },
    again: (trials) => {
      const names = trials.map(({ scenario, tier }) => `${scenario.name} (${tier})`).join(", ");
      if (!isQuiet) print(`Sent again, to confirm what looks worse than before: ${names}`);
    },
  };
}

type NightOutputs = OutputFiles<"markdown" | "json">;

/** Prints where a night was saved, and writes it in the requested formats. */
export function presentNight(saved: SavedNight, history: string, { files, isStdoutTaken }: NightOutputs): void {
  const { judgement, night, nightCount, damaged, executed } = saved;
  const texts = {
    markdown: renderNightMarkdown(judgement, night, nightCount),
    json: renderNightJson(judgement, night, damaged),
  };
  const { write } = terminalOf(isStdoutTaken ? process.stderr : process.stdout);
  if (saved.reports !== null) write(`report  ${displayPath(saved.reports)}\n`);
  write(`trend   ${displayPath(join(history, trendPageFile))}\n`);
  if (night.findings.length === 0 && night.stopped !== undefined) print(night.stopped);
  if (executed.noLoad !== null) print(`No load was sent: ${formatNotSentReason(executed.noLoad)}`);
  files.flatMap((output) => writeOutput(output, () => texts[output.name])).forEach(reportUnwrittenOutput);
  appendStepSummary(() => texts.markdown);
}

const maxDamaged = 20;

export function printDamaged(damaged: readonly DamagedNight[]): void {
  for (const { file, problem } of damaged.slice(0, maxDamaged))
    printLine(line`Left out of the history: ${displayPath(file)}: ${problem}. The file is kept.`);
  const more = damaged.length - maxDamaged;
  if (more > 0) print(`Also left out of the history: ${formatCount(more, "more file")}.`);
}

/**
 * Returns the exit code of a night.
 *
 * @param onlyRegressions whether to ignore findings that were already broken on earlier nights
 */
export function nightExitCode({ executed, judgement }: SavedNight, onlyRegressions: boolean): number {
  const { run, load, night, noLoad } = executed;
  if (run === null) return exitCodes.nothingExercised;
  if (hasNewRegression(judgement)) return exitCodes.broken;
  const all = [...run.report.findings, ...(load?.report.findings ?? [])];
  const findings = onlyRegressions ? all.filter(({ outcome }) => outcome !== "fail") : all;
  const code = exitCodeOf({ findings, unselected: [] }, { strict: false, complete: false });
  const ofLoad = noLoad === null ? null : notSentExitCode(noLoad);
  const isIncomplete = night.verdict === "incomplete" && ofLoad === null;
  return decisiveExitCode([code, ofLoad ?? code, isIncomplete ? exitCodes.nothingExercised : code]);
}
