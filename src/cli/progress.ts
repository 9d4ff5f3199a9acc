import type { RunEvents } from "../app/judge/judge.ts";
import { packageVersion } from "../app/version.ts";
import { duration } from "../base/duration.ts";
import { sanitizeLine } from "../base/sanitize.ts";
import { formatCount } from "../base/text.ts";

/** What progress is written to; a stream of Node.js is one. On a terminal it has `isTTY` and, at most times, `columns`. */
export interface ProgressStream {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface ProgressOptions {
  readonly quiet: boolean;
  /** Milliseconds of any steady clock. */
  readonly now?: () => number;
  /** Calls back every so many milliseconds until the function that it returns is called. */
  readonly every?: (ms: number, callback: () => void) => () => void;
}

/** Shows a person that a run is under way. */
export interface Progress {
  /** The first line: what is judged, by which version; each fact once. */
  readonly started: (...facts: readonly string[]) => void;
  /** How many probes the run has. */
  readonly planned: (probes: number) => void;
  readonly probeDone: (name: string) => void;
  /** A real wait of so many milliseconds begins. */
  readonly waiting: (ms: number, why: string) => void;
  /** Takes the live line away. Nothing is shown afterwards. */
  readonly done: () => void;
}

/** Waits up to this long are not worth a line. */
const shortWaitMs = 2000;
const redrawMs = 1000;

const silent: Progress = { started() {}, planned() {}, probeDone() {}, waiting() {}, done() {} };

/** On a terminal one live line, written over again and again; elsewhere a plain line for each long wait; nothing when quiet. */
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
    // Probes side by side wait for the same thing.
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
    // A line that is as long as the terminal is wide would wrap, and could not be taken away again.
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

/** Does not keep the process alive. */
function repeat(ms: number, callback: () => void): () => void {
  const timer = setInterval(callback, ms).unref();
  return () => clearInterval(timer);
}

const seconds = (ms: number): string =>
  ms < 60_000 ? formatCount(Math.ceil(ms / 1000), "second") : duration(Math.ceil(ms / 1000) * 1000);

/** Shows a person at standard error how a run goes on. */
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
