import type { Sample } from "./sample.ts";

/** The three values of an answer that tell a time. `reset` and `date` are Unix seconds; `null` where the answer has none. */
type Told = Pick<Sample, "reset" | "resetAfter" | "date">;

/** What a client knows of the time at which an answer was made, in seconds. */
export interface ResponseTime {
  /** How much of the target's time passed from sending to the head of the answer. */
  readonly tookSeconds: number;
  /** Our own clock at sending and at the head, in Unix seconds; `null` where the target keeps a time of its own. */
  readonly ours: { readonly fromSeconds: number; readonly toSeconds: number } | null;
}

/** Of the clause: so far may the two headers be apart. */
const toleranceSeconds = 2;
/** A `Date` is cut to whole seconds. */
const cutSeconds = 1;
/** How far two machines' clocks may be apart where the target does not tell its own time. */
const mostSkewSeconds = 300;

/**
 * Judges `X-RateLimit-Reset` against `X-RateLimit-Reset-After` (HDR-14): the instant that they tell together is that of the answer, by the
 * target's `Date` or by our own clock. A `Date` may lag or come from a proxy, and two machines' clocks may be apart, so it is a breach only
 * where neither agrees. Returns what is wrong, `null` where nothing is, and `undefined` where there is nothing to judge.
 */
export function resetMismatch(
  { reset, resetAfter, date }: Told,
  { tookSeconds, ours }: ResponseTime,
): string | null | undefined {
  if (reset === null || resetAfter === null || (date === null && ours === null)) return undefined;
  const now = reset - resetAfter;
  const agrees = (fromSeconds: number, toSeconds: number): boolean =>
    now >= fromSeconds - toleranceSeconds && now <= toSeconds + toleranceSeconds;
  // Servers that count windows when a request arrives, and answer it much later, speak of its arrival.
  if (date !== null && agrees(date - tookSeconds, date + cutSeconds + tookSeconds)) return null;
  const skewSeconds = date === null ? mostSkewSeconds : 0;
  if (ours !== null && agrees(ours.fromSeconds - skewSeconds, ours.toSeconds + skewSeconds)) return null;
  const clocks = [
    ...(date === null ? [] : [`Date ${date}`]),
    ...(ours === null ? [] : [`our clock ${Math.round(ours.toSeconds)}`]),
  ];
  return `Reset ${reset}, Reset-After ${resetAfter}, ${clocks.join(", ")}`;
}

/** Answers of one run, judged like {@link resetMismatch}. */
export interface ResetContext {
  /** The run moves the target's clock. */
  readonly hasClock: boolean;
  /** Our own clock at the start of the run, in Unix milliseconds. */
  readonly startedUnixMs: number;
  /** The first answer of the run that had both headers. */
  readonly first: Sample | null;
}

/** Like {@link resetMismatch}, for a run that may move the target's clock: our own clock is then moved with it. */
export function resetMismatchInRun(run: ResetContext, sample: Sample): string | null | undefined {
  const { date, sentMs, headMs, sentClockMs, headClockMs } = sample;
  if (run.hasClock && date === null) return apartAsMoved(run.first ?? sample, sample);
  const wrong = resetMismatch(sample, {
    tookSeconds: (headMs - sentMs + headClockMs - sentClockMs) / 1000,
    ours: {
      fromSeconds: (run.startedUnixMs + sentMs + sentClockMs) / 1000,
      toSeconds: (run.startedUnixMs + headMs + headClockMs) / 1000,
    },
  });
  if (typeof wrong !== "string" || !run.hasClock) return wrong;
  if (isOfAnotherClock(sample, run)) return undefined;
  return isBehind(sample, run) ? apartAsMoved(run.first ?? sample, sample) : wrong;
}

/** A busy server's `Date`, or a proxy's, may be so old. */
const mostLagSeconds = 7;

/**
 * Whether `Date` may lag behind a clock that the target keeps for itself: ours, moved with it, cannot tell, since it was never the same.
 */
function isBehind(sample: Sample, { startedUnixMs }: ResetContext): boolean {
  const [now, { date, headMs, headClockMs }] = [toldNow(sample), sample];
  if (now === null || date === null) return false;
  const ours = (startedUnixMs + headMs + headClockMs) / 1000;
  return now > date && now - date <= mostLagSeconds && Math.abs(ours - date) >= mostSkewSeconds;
}

/** Behind a proxy, `Date` may not follow a clock that is moved or that the target keeps for itself: it is as late as our own, unmoved. */
function isOfAnotherClock(sample: Sample, { startedUnixMs }: ResetContext): boolean {
  const [now, { date, headMs }] = [toldNow(sample), sample];
  if (now === null || date === null || Math.abs(now - date) > farSeconds) return false;
  return Math.abs(date - (startedUnixMs + headMs) / 1000) < mostSkewSeconds;
}

/** Years: milliseconds for seconds, or a delta for an instant, are as far off as that, and no clock is. */
const farSeconds = 1e8;

/** The instant that an answer's two headers tell together, in Unix seconds. */
const toldNow = ({ reset, resetAfter }: Told): number | null =>
  reset === null || resetAfter === null ? null : reset - resetAfter;

/** Unix seconds of these years and the next hundreds. */
const isOfThisEra = (seconds: number): boolean => seconds > 1e9 && seconds < 1e10;
/** Four values, each rounded to whole seconds, and a second for what lies between them. */
const roundingSeconds = 5;

/** For a clock that the run moves and no `Date` tells: two answers' instants lie as far apart as was moved. */
function apartAsMoved(first: Sample, sample: Sample): string | null | undefined {
  const [from, to] = [toldNow(first), toldNow(sample)];
  if (from === null || to === null || !isOfThisEra(from) || !isOfThisEra(to)) return undefined;
  const leastMs = sample.sentClockMs - first.headClockMs + Math.min(0, sample.sentMs - first.headMs);
  const mostMs = sample.headClockMs - first.sentClockMs + Math.max(0, sample.headMs - first.sentMs);
  const isRight = to - from >= leastMs / 1000 - roundingSeconds && to - from <= mostMs / 1000 + roundingSeconds;
  return isRight
    ? null
    : `Reset ${sample.reset}, Reset-After ${sample.resetAfter}, the first answer's clock ${Math.round(from)}`;
}
