import { join } from "node:path";

import type { KeptNight } from "../../app/nightly/keep-night.ts";
import type { NightView } from "../../app/nightly/night-options.ts";
import { counted } from "../../base/text.ts";
import { nightMarkdown, nightJson, renderNight } from "../../history/renderers.ts";
import { type DamagedNight, trendFile } from "../../history/store.ts";
import { noLoadWords } from "../loading/no-load-words.ts";
import { showLoadProgress } from "../loading/progress.ts";
import { nearer } from "../nearer.ts";
import { replaceFile } from "../../app/folder/write-files.ts";
import { showRunProgress } from "../run-progress.ts";
import { appendStepSummary } from "../reporting/ci.ts";
import { terminalOf } from "../terminal-of.ts";

/** Where a night is told; files are made sure of, and `-` prints. `null`: not wanted. */
export interface NightTelling {
  readonly history: string;
  readonly json: string | null;
  readonly markdown: string | null;
}

const say = (sentence: string): void => void process.stderr.write(`${sentence}\n`);

/** Shows a person how a night goes on. */
export function nightView(isQuiet: boolean): NightView {
  return {
    damaged: tellDamaged,
    run: showRunProgress(isQuiet),
    load: { ...showLoadProgress(process.stderr, isQuiet), planned() {}, problem: say },
    again: (trials) => {
      const names = trials.map(({ scenario, tier }) => `${scenario.name} (${tier})`).join(", ");
      if (!isQuiet) say(`Once more, to confirm what looks worse than before: ${names}`);
    },
  };
}

/** Tells what a night came to. */
export function tellNight(kept: KeptNight, { history, json, markdown }: NightTelling): void {
  const { judgement, night, nights, damaged, lived } = kept;
  const text = nightMarkdown(judgement, night, nights);
  const printed = [printOrWrite(json, nightJson(judgement, night, damaged)), printOrWrite(markdown, text)];
  appendStepSummary(() => text);
  const { look, write } = terminalOf(printed.includes(true) ? process.stderr : process.stdout);
  write(renderNight(judgement, night, { ...look, nights }));
  if (kept.reports !== null) write(`report  ${nearer(kept.reports)}\n`);
  write(`trend   ${nearer(join(history, trendFile))}\n`);
  if (night.findings.length === 0 && night.stopped !== undefined) say(night.stopped);
  if (lived.noLoad !== null) say(`No load was sent: ${noLoadWords(lived.noLoad)}`);
}

/** Whether it was printed. */
function printOrWrite(file: string | null, text: string): boolean {
  if (file === "-") process.stdout.write(text);
  else if (file !== null) replaceFile(file, text);
  return file === "-";
}

const mostDamaged = 20;

export function tellDamaged(damaged: readonly DamagedNight[]): void {
  for (const { file, problem } of damaged.slice(0, mostDamaged))
    say(`Left out of the history: ${nearer(file)}: ${problem}. It stays where it is.`);
  const more = damaged.length - mostDamaged;
  if (more > 0) say(`Left out of the history, too: ${counted(more, "more file")}.`);
}
