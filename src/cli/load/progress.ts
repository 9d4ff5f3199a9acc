import { type LoadEvents, silentLoadEvents } from "../../app/load/send-load.ts";
import type { LoadProgress } from "../../load/engine.ts";
import type { TrialResult } from "../../load/run-trials.ts";
import type { LoadTrial } from "../../load/trials.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount } from "../../base/text.ts";
import { formatDuration } from "../../base/duration.ts";
import { eraseLine, type ProgressStream, redrawLine } from "../progress.ts";

type LoadProgressView = Omit<LoadEvents, "planned" | "problem">;

/** Minimum time between two progress lines on a stream that is not a terminal. */
const lineIntervalMs = 10_000;

export function showLoadProgress(stream: ProgressStream, isQuiet: boolean): LoadProgressView {
  if (isQuiet) return silentLoadEvents;
  return stream.isTTY === true ? liveView(stream) : plainView(stream);
}

const trialName = ({ scenario, tier, engine }: LoadTrial): string => `${scenario.name} · ${tier} · ${engine}`;

/** Creates a meter of the request rate in the last 1.5 s. An average since the start would hide a stalled load. */
function createRateMeter(): (progress: LoadProgress) => number {
  let marks: LoadProgress[] = [];
  return (progress) => {
    if (progress.sent < (marks.at(-1)?.sent ?? 0)) marks = [];
    marks = [...marks.filter(({ elapsedMs }) => elapsedMs > progress.elapsedMs - 1500), progress];
    const [first = progress] = marks;
    const ms = progress.elapsedMs - first.elapsedMs;
    return ms <= 0 ? 0 : Math.round(((progress.sent - first.sent) * 1000) / ms);
  };
}

function progressText(progress: LoadProgress, perSecond: number): string {
  const { sent, admitted, refused, failed, elapsedMs, expectedMs } = progress;
  const leftSeconds = Math.ceil((expectedMs - elapsedMs) / 1000);
  // The remaining time comes first: on a narrow terminal, `redrawLine` cuts off the end of the line.
  return [
    leftSeconds >= 0 ? `${leftSeconds} s left` : `${-leftSeconds} s longer than expected`,
    `${formatCount(sent, "request")} (${perSecond}/s)`,
    `${admitted} admitted`,
    `${refused} limited`,
    `${failed} failed`,
  ].join(" · ");
}

function liveView(stream: ProgressStream): LoadProgressView {
  let head = "";
  let rate = createRateMeter();
  const draw = (text: string): void => redrawLine(stream, `${head} · ${text}`);
  return {
    trial: (trial, at, of) => {
      head = `${at + 1}/${of} ${trialName(trial)}`;
      rate = createRateMeter();
      draw("starting");
    },
    waiting: (ms, why) => draw(`waiting ${formatDuration(ms)}: ${why}`),
    progress: (progress) => draw(progressText(progress, rate(progress))),
    outcome() {},
    done: () => void stream.write(eraseLine),
  };
}

function plainView(stream: ProgressStream): LoadProgressView {
  let name = "";
  let rate = createRateMeter();
  let printedMs = 0;
  return {
    trial: (trial) => {
      name = trialName(trial);
      rate = createRateMeter();
      printedMs = 0;
    },
    waiting: (ms, why) => void stream.write(`${name}: waiting ${formatDuration(ms)}: ${why}\n`),
    progress: (progress) => {
      const perSecond = rate(progress);
      if (progress.elapsedMs - printedMs < lineIntervalMs) return;
      printedMs = progress.elapsedMs;
      stream.write(`${name}: ${progressText(progress, perSecond)}\n`);
    },
    outcome: (outcome) => void stream.write(`${trialName(outcome.trial)}: ${outcomeText(outcome)}\n`),
    done() {},
  };
}

function outcomeText(outcome: TrialResult): string {
  switch (outcome.kind) {
    case "judged": {
      const { evidence, findings, validity } = outcome;
      const broken = findings.filter(({ kind }) => kind === "breach").length;
      const result =
        broken > 0
          ? formatCount(broken, "breach").replace("breachs", "breaches")
          : (validity.invalid ?? "nothing broken");
      return `${formatCount(evidence.generator.sent, "request")} in ${formatDuration(evidence.durationMs)}, ${result}`;
    }
    case "skipped":
      return `skipped: ${sanitizeLine(outcome.reason, 160)}`;
    case "broken":
      return `the harness itself failed: ${sanitizeLine(outcome.error, 160)}`;
  }
}
