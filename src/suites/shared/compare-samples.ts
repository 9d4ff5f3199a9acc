import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { sampleOf } from "../../rules/limits/sampling.ts";

/** What the limiter showed in an exchange that was not in flight while the target's clock was moved. */
export const sampleFrom = (exchange: Exchange): Sample => sampleOf(exchange, exchange.clockMs, exchange.clockMs);

/** Two answers speak of one window: the same limit, and the same instant of reset. */
export const isSameWindow = (a: Sample, b: Sample): boolean =>
  a.limit !== null && a.limit === b.limit && a.reset !== null && b.reset !== null && Math.abs(a.reset - b.reset) <= 2;

/**
 * Two answers speak of one bucket, whose reset is the instant at which it is full again: each request that was counted
 * between them moves that instant on by the refill of one request, and nothing else does.
 */
function isSameBucket(from: Sample, to: Sample): boolean {
  if (from.limit === null || from.limit !== to.limit || from.reset === null || to.reset === null) return false;
  const fell = (from.remaining ?? 0) - (to.remaining ?? 0);
  const moved = to.reset - from.reset;
  return fell > 0 && [60, 3600].some((span) => Math.abs(moved - (fell * span) / (from.limit ?? 1)) <= 2);
}

const isSameAllowance = (from: Sample, to: Sample): boolean => isSameWindow(from, to) || isSameBucket(from, to);

/** Seconds between two exchanges, for a target whose clock runs on between the run's moves. */
const secondsBetween = (from: Sample, to: Sample): number =>
  (to.headMs - from.sentMs + (to.headClockMs - from.sentClockMs)) / 1000;

/** Seconds of the target's time between two answers: at least, and at most. @param hasClock the run moves the target's clock, which may stand still otherwise */
export function elapsedSeconds(
  from: Sample,
  to: Sample,
  hasClock: boolean,
): { readonly least: number; readonly most: number } {
  const movedMs = to.sentClockMs - from.headClockMs;
  return {
    least: (hasClock ? movedMs : to.sentMs - from.headMs) / 1000,
    most: (to.headClockMs - from.sentClockMs + to.headMs - from.sentMs) / 1000,
  };
}

/** How far `Remaining` fell from one answer to a later one; `null` where they speak of different windows, or not at all. */
export interface Fall {
  readonly fell: number;
  /** What a refilling or rolling window may have given back meanwhile. */
  readonly mayRegain: number;
}

export function fallBetween(from: Sample, to: Sample): Fall | null {
  if (!isSameAllowance(from, to) || from.remaining === null || to.remaining === null) return null;
  // Values outside the range are judged as such, and tell nothing of a fall.
  if ([from.remaining, to.remaining].some((value) => value < 0 || value > (from.limit ?? 0))) return null;
  // No admissible limiter refills faster than its whole limit in a minute.
  const mayRegain = 1 + Math.ceil(((from.limit ?? 0) / 60) * secondsBetween(from, to));
  return { fell: from.remaining - to.remaining, mayRegain };
}

/** Invokes that were sent one right after another on one key, with nothing else between them, within one window. */
export type SerialRun = readonly Sample[];

const closeSeconds = 1;

/**
 * @param samples of one key
 * @param between whether something else was sent between two instants that may have touched the key
 * @param readsCount whether reading usage was seen to draw on the allowance, as an invoke does
 */
export function serialRuns(
  samples: readonly Sample[],
  between: (fromMs: number, toMs: number) => boolean,
  readsCount = false,
): SerialRun[] {
  const counts = ({ kind }: Sample): boolean => kind === "invoke" || (readsCount && kind === "usage");
  const runs: Sample[][] = [];
  const sorted = samples.toSorted((a, b) => a.sentMs - b.sentMs);
  let lastEndMs = -Infinity;
  sorted.forEach((sample, index) => {
    const previous = sorted[index - 1];
    const isAlone = sample.sentMs >= lastEndMs && (sorted[index + 1]?.sentMs ?? Infinity) >= sample.endMs;
    lastEndMs = Math.max(lastEndMs, sample.endMs);
    if (!isAlone || !counts(sample) || !isAdmitted(sample)) return;
    const run = runs.at(-1);
    const first = run?.[0];
    const follows = previous !== undefined && run?.at(-1) === previous && first !== undefined;
    const isNear = follows && secondsBetween(previous, sample) <= closeSeconds && isSameAllowance(first, sample);
    if (run !== undefined && isNear && !between(previous.sentMs, sample.sentMs)) run.push(sample);
    else runs.push([sample]);
  });
  return runs.filter(({ length }) => length > 1);
}
