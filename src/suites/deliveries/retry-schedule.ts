import { sumOf } from "../../base/numbers.ts";
import { deliveryPolicy } from "../../spec/events-and-errors.ts";

export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface ObservedAttempts {
  readonly created: readonly TimeSpan[];
  /** End of the observation. During the `unwatched` spans before it, no receiver listened. */
  readonly untilMs: number;
  readonly unwatched: readonly TimeSpan[];
}

/** The attempt from which delays are counted. */
export type DelayOrigin = "from-previous" | "from-first";
export type ScheduleShape = "five-attempts" | "six-attempts" | "four-retries";

const { retryDelaysMs, responseTimeoutMs } = deliveryPolicy;

/**
 * Delays between attempts, for each reading of the document. Its words "immediately" and "5 failed attempts" are
 * ambiguous.
 */
const delaysOfShape: Readonly<Record<ScheduleShape, readonly number[]>> = {
  "five-attempts": retryDelaysMs.slice(1),
  "six-attempts": retryDelaysMs,
  "four-retries": retryDelaysMs.slice(0, -1),
};
const origins: readonly DelayOrigin[] = ["from-previous", "from-first"];

export interface ScheduleMatch {
  readonly origin: DelayOrigin;
  readonly shape: ScheduleShape;
  readonly fitting: number;
  /**
   * `complete`: all attempts came. `goes on`: more attempts came than scheduled. `under way`: the next attempt can still
   * come. `stopped`: the next attempt is overdue. `off`: an attempt came at a wrong time.
   */
  readonly kind: "complete" | "under way" | "goes on" | "stopped" | "off";
  /** Allowed time of the first missing or mistimed attempt; `null` if there is no such attempt. */
  readonly expected: TimeSpan | null;
}

/** Minimum tolerance for a late attempt. A sender that polls its queue can be this late. */
const minAllowedLateMs = 10_000;
const toleranceMs = (delayMs: number): number => Math.max(2000, delayMs / 10);
export const allowedEarlyMs = (delayMs: number): number => Math.min(delayMs, toleranceMs(delayMs));
export const allowedLateMs = (delayMs: number): number =>
  Math.max(minAllowedLateMs, toleranceMs(delayMs) + responseTimeoutMs);

/** Longest allowed pause between two attempts, including the tolerance. */
export const maxPauseMs = Math.max(...retryDelaysMs.map((delayMs) => delayMs + allowedLateMs(delayMs)));
/** Maximum time from the first attempt to the first delayed retry. */
export const firstRetryWithinMs = 60_000 + allowedLateMs(60_000) + responseTimeoutMs;

/**
 * Time limits for attempts 3 to 6, in ms after the first attempt. If an attempt misses its limit, the harness stops
 * waiting.
 */
export const laterRetriesWithinMs: readonly number[] = [...retryDelaysMs.slice(2), maxPauseMs].map(
  (_, at, pauses) => firstRetryWithinMs + sumOf(pauses.slice(0, at + 1).map((ms) => ms + allowedLateMs(ms))),
);

export function explainAttempts(attempts: ObservedAttempts): readonly ScheduleMatch[] {
  const all = origins.flatMap((origin) =>
    (Object.keys(delaysOfShape) as ScheduleShape[]).map((shape) => explainByReading(origin, shape, attempts)),
  );
  return all.toSorted((one, other) => rank(other) - rank(one));
}

const kindsByRank = ["off", "stopped", "goes on", "under way", "complete"] as const;
const rank = ({ kind, fitting }: ScheduleFit): number => kindsByRank.indexOf(kind) * 100 + fitting;

function explainByReading(origin: DelayOrigin, shape: ScheduleShape, attempts: ObservedAttempts): ScheduleMatch {
  const [first] = attempts.created;
  if (first === undefined) throw new RangeError("at least one attempt is required");
  const position: MatchPosition = { first, previous: first, matched: 1, step: 0 };
  return { origin, shape, ...compareFrom({ delaysMs: delaysOfShape[shape], origin, attempts }, position) };
}

interface ScheduleReading {
  readonly delaysMs: readonly number[];
  readonly origin: DelayOrigin;
  readonly attempts: ObservedAttempts;
}

interface MatchPosition {
  readonly first: TimeSpan;
  readonly previous: TimeSpan;
  readonly matched: number;
  readonly step: number;
}

type ScheduleFit = Omit<ScheduleMatch, "origin" | "shape">;

function compareFrom(reading: ScheduleReading, position: MatchPosition): ScheduleFit {
  const { delaysMs, origin, attempts } = reading;
  const { matched, step } = position;
  const next = attempts.created[matched];
  const delayMs = delaysMs[step];
  if (delayMs === undefined)
    return { kind: next === undefined ? "complete" : "goes on", fitting: matched, expected: null };
  const base = origin === "from-first" ? position.first : position.previous;
  const expected = {
    fromMs: base.fromMs + delayMs - allowedEarlyMs(delayMs),
    toMs: base.toMs + delayMs + allowedLateMs(delayMs),
  };

  const outcomes: ScheduleFit[] = [];
  if (next !== undefined && overlaps(next, expected))
    outcomes.push(
      compareFrom(reading, {
        ...position,
        previous: intersectionOf(next, expected),
        matched: matched + 1,
        step: step + 1,
      }),
    );
  // The attempt may have come while no receiver was listening.
  if (attempts.unwatched.some((span) => overlaps(span, expected)))
    outcomes.push(compareFrom(reading, { ...position, previous: expected, step: step + 1 }));
  if (next === undefined && expected.toMs >= attempts.untilMs)
    outcomes.push({ kind: "under way", fitting: matched, expected: null });
  if (outcomes.length === 0) return { kind: next === undefined ? "stopped" : "off", fitting: matched, expected };
  return outcomes.reduce((best, each) => (rank(each) > rank(best) ? each : best));
}

const overlaps = (one: TimeSpan, other: TimeSpan): boolean => one.fromMs <= other.toMs && other.fromMs <= one.toMs;
const intersectionOf = (one: TimeSpan, other: TimeSpan): TimeSpan => ({
  fromMs: Math.max(one.fromMs, other.fromMs),
  toMs: Math.min(one.toMs, other.toMs),
});
