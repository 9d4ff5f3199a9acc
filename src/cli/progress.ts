import type { RunEvents } from "../app/judge/judge.ts";
import { packageVersion } from "../app/version.ts";
import { duration } from "../base/duration.ts";
import { sanitizeLine } from "../base/sanitize.ts";
import { formatCount } from "../base/text.ts";

/** A stream for progress, such as `process.stderr`. On a terminal it has `isTTY`, and usually `columns`. */
export interface ProgressStream {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface ProgressOptions {
  readonly quiet: boolean;
  /** Current time in milliseconds, by any clock that never jumps. */
  readonly now?: () => number;
  /** Calls back at an interval, until the returned function is called. */
  readonly every?: (ms: number, callback: () => void) => () => void;
}

/** Prints the progress of a run. */
export interface Progress {
  /** Prints the first line: version, target and other facts, without duplicates. */
  readonly started: (...facts: readonly string[]) => void;
  /** Sets the number of probes. */
  readonly planned: (probes: number) => void;
  readonly probeDone: (name: string) => void;
  /** Called when a wait begins. */
  readonly waiting: (ms: number, why: string) => void;
  /** Removes the live line. Nothing is printed afterwards. */
  readonly done: () => void;
}

/** Waits up to this long are not printed. */
const shortWaitMs = 2000;
const redrawMs = 1000;

const silent: Progress = { started() {}, planned() {}, probeDone() {}, waiting() {}, done() {} };

/**
 * Prints progress. On a terminal, redraws one line. Elsewhere, prints a line for each long wait. With `quiet`, prints
 * nothing.
 */
export function startProgress(stream: ProgressStream, options: ProgressOptions): Progress {
  if (options.quiet) return silent;
  const isLive = stream.isTTY === true;
  const started: Progress["started"] = (...facts) => {
    const line = [...new Set(["Agent Hosting conformance", ...facts])]
      .map((fact) => sanitizeLine(fact, 120))
      .join(" · ");
    stream.write(`${line}\n\n`);
  };
  return { started, ...(isLive ? liveLine(stream, options) : plainLines(stream, options)) };
}

type Running = Omit<Progress, "started">;

function plainLines(stream: ProgressStream, { now = () => performance.now() }: ProgressOptions): Running {
  let announced = { why: "", untilMs: 0 };
  const waiting = (ms: number, why: string): void => {
    if (ms <= shortWaitMs) return;
    const untilMs = now() + ms;
    // Several probes may wait for the same rate-limit window: one line is enough for all of them.
    if (announced.why === why && untilMs - announced.untilMs <= shortWaitMs) return;
    announced = { why, untilMs };
    stream.write(`waiting ${seconds(ms)}: ${sanitizeLine(why, 160)}\n`);
  };
  return { planned() {}, probeDone() {}, waiting, done() {} };
}

const eraseLine = "\r\u001b[2K";

function liveLine(stream: ProgressStream, { now = () => performance.now(), every = repeat }: ProgressOptions): Running {
  let [probes, finished, last] = [0, 0, ""];
  let wait = { why: "", untilMs: 0 };
  let stop: (() => void) | null = null;
  let isOver = false;

  const draw = (): void => {
    if (isOver) return;
    const leftMs = wait.untilMs - now();
    const doing = leftMs > 0 ? `waiting ${seconds(leftMs)}: ${wait.why}` : last;
    const line = [`${finished}/${probes} probes`, ...(doing === "" ? [] : [doing])].join(" · ");
    // A line as wide as the terminal would wrap, and could not be erased afterwards.
    stream.write(`${eraseLine}${sanitizeLine(line, Math.max(10, (stream.columns ?? 80) - 1))}`);
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

/** A timer that does not keep the process alive. */
function repeat(ms: number, callback: () => void): () => void {
  const timer = setInterval(callback, ms).unref();
  return () => clearInterval(timer);
}

const seconds = (ms: number): string =>
  ms < 60_000 ? formatCount(Math.ceil(ms / 1000), "second") : duration(Math.ceil(ms / 1000) * 1000);

/** Prints the progress of a run to standard error. */
export function showRunProgress(isQuiet: boolean): { readonly events: RunEvents; readonly done: () => void } {
  const progress = startProgress(process.stderr, { quiet: isQuiet });
  const events: RunEvents = {
    onStart: ({ name, baseUrl }) => progress.started(packageVersion(), name, baseUrl),
    onPlan: progress.planned,
    onProbe: progress.probeDone,
    onWait: progress.waiting,
  };
  return { events, done: progress.done };
}
