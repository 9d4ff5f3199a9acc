import type { Sample } from "./sample.ts";

/** The three values of a response that report a time. `reset` and `date` are Unix seconds; `null` if absent. */
type ReportedTimes = Pick<Sample, "reset" | "resetAfter" | "date">;

/** When a response was made, as precisely as a client can know. In seconds. */
export interface ResponseTime {
  /** The target's time that passed from sending to the head of the response. */
  readonly tookSeconds: number;
  /**
   * Our own clock when the request was sent and when the head arrived, in Unix seconds; `null` if the target keeps a
   * time of its own.
   */
  readonly ours: { readonly fromSeconds: number; readonly toSeconds: number } | null;
}

/** Tolerance that the clause allows between the two headers. */
const toleranceSeconds = 2;
/** A `Date` is truncated to whole seconds. */
const cutSeconds = 1;
/** The most that two machines' clocks may differ if the target does not report its own time. */
const maxSkewSeconds = 300;

/**
 * Judges `X-RateLimit-Reset` against `X-RateLimit-Reset-After` (HDR-14): `Reset` minus `Reset-After` is the instant of
 * the response. That instant must agree with the target's `Date` or with our own clock. One of them is enough: a `Date`
 * may lag, and the clocks of two machines differ. Returns the actual values of a breach, `null` if there is none,
 * `undefined` if the headers are missing.
 */
export function resetMismatch(
  { reset, resetAfter, date }: ReportedTimes,
  { tookSeconds, ours }: ResponseTime,
): string | null | undefined {
  if (reset === null || resetAfter === null || (date === null && ours === null)) return undefined;
  const now = reset - resetAfter;
  const agrees = (fromSeconds: number, toSeconds: number): boolean =>
    now >= fromSeconds - toleranceSeconds && now <= toSeconds + toleranceSeconds;
  // Some servers count a request when it arrives, and answer it much later. Their headers then fit its arrival.
  if (date !== null && agrees(date - tookSeconds, date + cutSeconds + tookSeconds)) return null;
  const skewSeconds = date === null ? maxSkewSeconds : 0;
  if (ours !== null && agrees(ours.fromSeconds - skewSeconds, ours.toSeconds + skewSeconds)) return null;
  const clocks = [
    ...(date === null ? [] : [`Date ${date}`]),
    ...(ours === null ? [] : [`our clock ${Math.round(ours.toSeconds)}`]),
  ];
  return `Reset ${reset}, Reset-After ${resetAfter}, ${clocks.join(", ")}`;
}

/** Facts about a run that {@link resetMismatchInRun} needs. */
export interface ResetContext {
  /** Whether the run moves the target's clock. */
  readonly hasClock: boolean;
  /** Our own clock at the start of the run, in Unix milliseconds. */
  readonly startedUnixMs: number;
  /** The first response of the run that had both headers. */
  readonly first: Sample | null;
}

/** Like {@link resetMismatch}, for a run that may move the target's clock: adds the same time to our own clock. */
export function resetMismatchInRun(run: ResetContext, sample: Sample): string | null | undefined {
  const { date, sentMs, headMs, sentClockMs, headClockMs } = sample;
  if (run.hasClock && date === null) return judgeByOffsets(run.first ?? sample, sample);
  const wrong = resetMismatch(sample, {
    tookSeconds: (headMs - sentMs + headClockMs - sentClockMs) / 1000,
    ours: {
      fromSeconds: (run.startedUnixMs + sentMs + sentClockMs) / 1000,
      toSeconds: (run.startedUnixMs + headMs + headClockMs) / 1000,
    },
  });
  if (typeof wrong !== "string" || !run.hasClock) return wrong;
  if (isOfAnotherClock(sample, run)) return undefined;
  return isBehind(sample, run) ? judgeByOffsets(run.first ?? sample, sample) : wrong;
}

/** How old the `Date` of a busy server or a proxy may be. */
const maxLagSeconds = 7;

/**
 * Whether the headers show a test clock that is slightly ahead of `Date`. Our own clock is no reference here: it
 * differs from the test clock.
 */
function isBehind(sample: Sample, { startedUnixMs }: ResetContext): boolean {
  const [now, { date, headMs, headClockMs }] = [reportedInstant(sample), sample];
  if (now === null || date === null) return false;
  const ours = (startedUnixMs + headMs + headClockMs) / 1000;
  return now > date && now - date <= maxLagSeconds && Math.abs(ours - date) >= maxSkewSeconds;
}

/**
 * Whether `Date` may come from a proxy. A proxy's `Date` ignores the target's test clock and agrees with our own
 * clock.
 */
function isOfAnotherClock(sample: Sample, { startedUnixMs }: ResetContext): boolean {
  const [now, { date, headMs }] = [reportedInstant(sample), sample];
  if (now === null || date === null || Math.abs(now - date) > farSeconds) return false;
  return Math.abs(date - (startedUnixMs + headMs) / 1000) < maxSkewSeconds;
}

/**
 * A difference of years, which no real clock has. Milliseconds sent as seconds, or a duration sent as an instant,
 * differ by more.
 */
const farSeconds = 1e8;

/** The instant of the response according to both headers, in Unix seconds. */
const reportedInstant = ({ reset, resetAfter }: ReportedTimes): number | null =>
  reset === null || resetAfter === null ? null : reset - resetAfter;

/** Whether a number may be Unix seconds of this era: after 2001, before 2286. */
const isOfThisEra = (seconds: number): boolean => seconds > 1e9 && seconds < 1e10;
/**
 * Tolerance: one second for the rounding of each of the four values, and one for the time between the two responses.
 */
const roundingSeconds = 5;

/**
 * Judges the headers of a target whose test clock does not show in `Date`. Between two responses, the reported time
 * must advance as far as the run advanced the clock.
 */
function judgeByOffsets(first: Sample, sample: Sample): string | null | undefined {
  const [from, to] = [reportedInstant(first), reportedInstant(sample)];
  if (from === null || to === null || !isOfThisEra(from) || !isOfThisEra(to)) return undefined;
  const minMs = sample.sentClockMs - first.headClockMs + Math.min(0, sample.sentMs - first.headMs);
  const maxMs = sample.headClockMs - first.sentClockMs + Math.max(0, sample.headMs - first.sentMs);
  const isRight = to - from >= minMs / 1000 - roundingSeconds && to - from <= maxMs / 1000 + roundingSeconds;
  return isRight
    ? null
    : `Reset ${sample.reset}, Reset-After ${sample.resetAfter}, the first answer's clock ${Math.round(from)}`;
}
