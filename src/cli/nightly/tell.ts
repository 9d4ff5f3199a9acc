import { join } from "node:path";

import type { SavedNight } from "../../app/nightly/save-night.ts";
import type { NightEvents } from "../../app/nightly/night-options.ts";
import { formatCount } from "../../base/text.ts";
import { renderNightMarkdown, renderNightJson, renderNightTerminal } from "../../report/history/renderers.ts";
import type { DamagedNight } from "../../report/history/night.ts";
import { trendFile } from "../../app/nightly/history-store.ts";
import { formatNotSent } from "../load/not-sent.ts";
import { showLoadProgress } from "../load/progress.ts";
import { displayPath } from "../nearer.ts";
import { replaceFile } from "../../app/report-folder/write-files.ts";
import { showRunProgress } from "../run-progress.ts";
import { appendStepSummary } from "../report/ci.ts";
import { terminalOf } from "../terminal.ts";

/** Where a night is told; files are made sure of, and `-` prints. `null`: not wanted. */
export interface NightOutputs {
  readonly history: string;
  readonly json: string | null;
  readonly markdown: string | null;
}

const say = (sentence: string): void => void process.stderr.write(`${sentence}\n`);

/** Shows a person how a night goes on. */
export function nightEvents(isQuiet: boolean): NightEvents {
  return {
    damaged: printDamaged,
    run: showRunProgress(isQuiet),
    load: { ...showLoadProgress(process.stderr, isQuiet), planned() {}, problem: say },
    again: (trials) => {
      const names = trials.map(({ scenario, tier }) => `${scenario.name} (${tier})`).join(", ");
      if (!isQuiet) say(`Once more, to confirm what looks worse than before: ${names}`);
    },
  };
}

/** Tells what a night came to. */
export function presentNight(kept: SavedNight, { history, json, markdown }: NightOutputs): void {
  const { judgement, night, nights, damaged, executed } = kept;
  const text = renderNightMarkdown(judgement, night, nights);
  const printed = [printOrWrite(json, renderNightJson(judgement, night, damaged)), printOrWrite(markdown, text)];
  appendStepSummary(() => text);
  const { look, write } = terminalOf(printed.includes(true) ? process.stderr : process.stdout);
  write(renderNightTerminal(judgement, night, { ...look, nights }));
  if (kept.reports !== null) write(`report  ${displayPath(kept.reports)}\n`);
  write(`trend   ${displayPath(join(history, trendFile))}\n`);
  if (night.findings.length === 0 && night.stopped !== undefined) say(night.stopped);
  if (executed.noLoad !== null) say(`No load was sent: ${formatNotSent(executed.noLoad)}`);
}

/** Whether it was printed. */
function printOrWrite(file: string | null, text: string): boolean {
  if (file === "-") process.stdout.write(text);
  else if (file !== null) replaceFile(file, text);
  return file === "-";
}

const mostDamaged = 20;

export function printDamaged(damaged: readonly DamagedNight[]): void {
  for (const { file, problem } of damaged.slice(0, mostDamaged))
    say(`Left out of the history: ${displayPath(file)}: ${problem}. It stays where it is.`);
  const more = damaged.length - mostDamaged;
  if (more > 0) say(`Left out of the history, too: ${formatCount(more, "more file")}.`);
}
