import type { JudgedTarget, RunEvents } from "../app/judge/judge-target.ts";
import { registerSecrets } from "./errors.ts";
import { packageVersion } from "../base/package-root.ts";
import { formatDuration } from "../base/duration.ts";
import { sanitizeLine } from "../base/sanitize.ts";
import { formatCount } from "../base/text.ts";
import { type Interruption, untilInterrupted } from "./interruption.ts";

/**
 * A stream that shows progress, such as `process.stderr`. For a terminal, `isTTY` is `true`, and `columns` is its
 * width.
 */
export interface ProgressStream {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

interface ProgressOptions {
  readonly quiet: boolean;
  readonly now?: () => number;
  readonly every?: (ms: number, callback: () => void) => () => void;
}

export interface Progress {
  readonly started: (...facts: readonly string[]) => void;
  readonly planned: (probes: number) => void;
  readonly probeDone: (name: string) => void;
  readonly waiting: (ms: number, why: string) => void;
  /** Erases the progress line from the terminal. Must be the last call. */
  readonly done: () => void;
}

const shortWaitMs = 2000;
const redrawMs = 1000;

const silentProgress: Progress = { started() {}, planned() {}, probeDone() {}, waiting() {}, done() {} };

export function startProgress(stream: ProgressStream, options: ProgressOptions): Progress {
  if (options.quiet) return silentProgress;
  const isLive = stream.isTTY === true;
  const started: Progress["started"] = (...facts) => {
    const line = [...new Set(["Agent Hosting conformance", ...facts])]
      .map((fact) => sanitizeLine(fact, 120))
      .join(" · ");
    stream.write(`${line}\n\n`);
  };
  return { started, ...(isLive ? liveLine(stream, options) : plainLines(stream, options)) };
}

type StartedProgress = Omit<Progress, "started">;

function plainLines(stream: ProgressStream, { now = () => performance.now() }: ProgressOptions): StartedProgress {
  let announced = { why: "", untilMs: 0 };
  const waiting = (ms: number, why: string): void => {
    if (ms <= shortWaitMs) return;
    const untilMs = now() + ms;
    // Several probes can wait for the same rate-limit window. Prints a line only for a new reason or a later end.
    if (announced.why === why && untilMs - announced.untilMs <= shortWaitMs) return;
    announced = { why, untilMs };
    stream.write(`waiting ${seconds(ms)}: ${sanitizeLine(why, 160)}\n`);
  };
  return { planned() {}, probeDone() {}, waiting, done() {} };
}

export const eraseLine = "\r\u001b[2K";

/** Replaces the terminal's current line by a text. Cuts the text, because a wrapped line cannot be erased. */
export const redrawLine = (stream: ProgressStream, text: string): void =>
  void stream.write(`${eraseLine}${sanitizeLine(text, Math.max(10, (stream.columns || 80) - 1))}`);

function liveLine(
  stream: ProgressStream,
  { now = () => performance.now(), every = repeat }: ProgressOptions,
): StartedProgress {
  let [probes, finished, last] = [0, 0, ""];
  let wait = { why: "", untilMs: 0 };
  let stop: (() => void) | null = null;
  let isOver = false;

  const draw = (): void => {
    if (isOver) return;
    const leftMs = wait.untilMs - now();
    const doing = leftMs > 0 ? `waiting ${seconds(leftMs)}: ${wait.why}` : last;
    const line = [`${finished}/${probes} probes`, ...(doing === "" ? [] : [doing])].join(" · ");
    redrawLine(stream, line);
    if (leftMs <= 0) halt();
  };
  const halt = (): void => {
    stop?.();
    stop = null;
  };

  return {
    planned: (count) => {
      probes = count;
      draw();
    },
    probeDone: (name) => {
      finished += 1;
      last = name;
      draw();
    },
    waiting: (ms, why) => {
      const untilMs = now() + ms;
      if (untilMs > wait.untilMs) wait = { why, untilMs };
      stop ??= every(redrawMs, draw);
      draw();
    },
    done: () => {
      if (isOver) return;
      halt();
      isOver = true;
      stream.write(eraseLine);
    },
  };
}

/**
 * Calls `callback` every `ms` milliseconds, without keeping the process alive. Returns a function that ends the calls.
 */
function repeat(ms: number, callback: () => void): () => void {
  const timer = setInterval(callback, ms).unref();
  return () => clearInterval(timer);
}

const seconds = (ms: number): string =>
  ms < 60_000 ? formatCount(Math.ceil(ms / 1000), "second") : formatDuration(Math.ceil(ms / 1000) * 1000);

export function showRunProgress(isQuiet: boolean): { readonly events: RunEvents; readonly done: () => void } {
  const progress = startProgress(process.stderr, { quiet: isQuiet });
  const events: RunEvents = {
    onStart: (target) => {
      // Registers the target's keys as secrets, so that error messages do not show them. The target's test-control API
      // may have issued these keys just now.
      const { name, baseUrl } = registerSecrets(target);
      progress.started(packageVersion(), name, baseUrl);
    },
    onPlan: progress.planned,
    onProbe: progress.probeDone,
    onWait: progress.waiting,
  };
  return { events, done: progress.done };
}

export async function judgeWithProgress(
  isQuiet: boolean,
  judge: (interruption: Interruption, progress: ReturnType<typeof showRunProgress>) => Promise<JudgedTarget>,
): Promise<{ readonly judged: JudgedTarget; readonly hasFailed: boolean }> {
  const progress = showRunProgress(isQuiet);
  try {
    return await untilInterrupted(async (interruption) => ({
      judged: { ...(await judge(interruption, progress)), interrupted: interruption.isInterrupted() },
      hasFailed: interruption.hasFailed(),
    }));
  } finally {
    progress.done();
  }
}
