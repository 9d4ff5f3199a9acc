import { sumOf } from "../../base/numbers.ts";
import { deliveryPolicy } from "../../spec/events.ts";

export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The observed attempts to deliver one event to the failing receiver. Times are by the target's clock. */
export interface ObservedAttempts {
  readonly created: readonly TimeSpan[];
  /** End of the observation. Every attempt before it is in `created`, except those that came during `unwatched`. */
  readonly untilMs: number;
  readonly unwatched: readonly TimeSpan[];
}

export type DelayOrder = "from-previous" | "from-first";
export type ScheduleShape = "five-attempts" | "six-attempts" | "four-retries";

const { retryDelaysMs, responseTimeoutMs } = deliveryPolicy;

/**
 * Delays before the attempts, for each shape of the schedule. The document can be read in these ways, because
 * "immediately" and "5 failed attempts" are ambiguous.
 */
const delaysOfShape: Readonly<Record<ScheduleShape, readonly number[]>> = {
  "five-attempts": retryDelaysMs.slice(1),
  "six-attempts": retryDelaysMs,
  "four-retries": retryDelaysMs.slice(0, -1),
};
const orders: readonly DelayOrder[] = ["from-previous", "from-first"];

export interface ScheduleMatch {
  readonly order: DelayOrder;
  readonly shape: ScheduleShape;
  readonly fitting: number;
  /**
   * How the attempts fit the schedule. `under way`: more attempts are due later. `stopped`: the next attempt is
   * overdue. `off`: an attempt came at another time. `goes on`: more attempts came than the schedule has.
   */
  readonly kind: "complete" | "under way" | "goes on" | "stopped" | "off";
  /** Time span allowed for the first attempt that is missing or came at another time. `null` if all attempts fit. */
  readonly expected: TimeSpan | null;
}

/** Minimum tolerance for a late attempt. A sender may poll its queue, and an attempt may take up to the timeout. */
const minAllowedLateMs = 10_000;
const toleranceMs = (delayMs: number): number => Math.max(2000, delayMs / 10);
export const allowedEarlyMs = (delayMs: number): number => Math.min(delayMs, toleranceMs(delayMs));
export const allowedLateMs = (delayMs: number): number =>
  Math.max(minAllowedLateMs, toleranceMs(delayMs) + responseTimeoutMs);

/**
 * Longest pause between two attempts in any reading, with tolerance. After a longer pause, the sender makes no further
 * attempt.
 */
export const maxPauseMs = Math.max(...retryDelaysMs.map((delayMs) => delayMs + allowedLateMs(delayMs)));
/**
 * Time after the first attempt by which a retry must have come, even by the most lenient reading. Includes the sender's
 * timeout.
 */
export const firstRetryWithinMs = 60_000 + allowedLateMs(60_000) + responseTimeoutMs;

/**
 * For each retry after the first, the maximum time since the first attempt. The last number is the end of the pause
 * after the last retry.
 */
export const laterRetriesWithinMs: readonly number[] = [...retryDelaysMs.slice(2), maxPauseMs].map(
  (_, at, pauses) => firstRetryWithinMs + sumOf(pauses.slice(0, at + 1).map((ms) => ms + allowedLateMs(ms))),
);

/** Compares the attempts with every reading of the schedule, and sorts the results. The best match comes first. */
export function explainAttempts(attempts: ObservedAttempts): readonly ScheduleMatch[] {
  const all = orders.flatMap((order) =>
    (Object.keys(delaysOfShape) as ScheduleShape[]).map((shape) => explainByReading(order, shape, attempts)),
  );
  return all.toSorted((one, other) => rank(other) - rank(one));
}

const kindsByRank = ["off", "stopped", "goes on", "under way", "complete"] as const;
const rank = ({ kind, fitting }: ScheduleFit): number => kindsByRank.indexOf(kind) * 100 + fitting;

function explainByReading(order: DelayOrder, shape: ScheduleShape, attempts: ObservedAttempts): ScheduleMatch {
  const [first] = attempts.created;
  if (first === undefined) throw new RangeError("at least one attempt is required");
  const position: MatchPosition = { first, previous: first, matched: 1, step: 0 };
  return { order, shape, ...compareFrom({ delaysMs: delaysOfShape[shape], order, attempts }, position) };
}

interface ScheduleReading {
  readonly delaysMs: readonly number[];
  readonly order: DelayOrder;
  readonly attempts: ObservedAttempts;
}

/**
 * State of a comparison at one attempt: how many observed attempts fit (`matched`), and how many delays were compared
 * (`step`).
 */
interface MatchPosition {
  readonly first: TimeSpan;
  readonly previous: TimeSpan;
  readonly matched: number;
  readonly step: number;
}

type ScheduleFit = Omit<ScheduleMatch, "order" | "shape">;

function compareFrom(reading: ScheduleReading, position: MatchPosition): ScheduleFit {
  const { delaysMs, order, attempts } = reading;
  const { matched, step } = position;
  const next = attempts.created[matched];
  const delayMs = delaysMs[step];
  if (delayMs === undefined)
    return { kind: next === undefined ? "complete" : "goes on", fitting: matched, expected: null };
  const base = order === "from-first" ? position.first : position.previous;
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
  // An attempt may have come while no receiver listened. The next delay then counts from some time in the span expected
  // for that attempt.
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
