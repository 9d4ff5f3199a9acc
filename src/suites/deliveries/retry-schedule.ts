import { sumOf } from "../../base/numbers.ts";
import { deliveryPolicy } from "../../spec/events.ts";

/** A span of time in milliseconds. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The observed attempts to deliver one event that always failed, in milliseconds of the target's time. */
export interface ObservedAttempts {
  /** The spans in which the attempts were made, in order. */
  readonly created: readonly TimeSpan[];
  /** Every attempt before this time was observed, except in `unwatched`. */
  readonly untilMs: number;
  /** Periods in which no receiver listened, so that an attempt may have been missed. */
  readonly unwatched: readonly TimeSpan[];
}

export type DelayOrder = "from-previous" | "from-first";
export type ScheduleShape = "five-attempts" | "six-attempts" | "four-retries";

const { retryDelaysMs, responseTimeoutMs } = deliveryPolicy;

/** Delays of the retries, by the reading of "immediately" and "5 failed attempts". */
const shapes: Readonly<Record<ScheduleShape, readonly number[]>> = {
  "five-attempts": retryDelaysMs.slice(1),
  "six-attempts": retryDelaysMs,
  "four-retries": retryDelaysMs.slice(0, -1),
};
const orders: readonly DelayOrder[] = ["from-previous", "from-first"];

/** How far the attempts agree with one reading of the schedule. */
export interface Explanation {
  readonly order: DelayOrder;
  readonly shape: ScheduleShape;
  /** Number of attempts that agree, including the first. */
  readonly fitting: number;
  /**
   * - `complete`: every attempt of the schedule, and no more.
   * - `under way`: all attempts so far; the next may still come.
   * - `goes on`: every attempt of the schedule, and more.
   * - `stopped`: the next attempt is overdue.
   * - `off`: the next attempt came at another time.
   */
  readonly kind: "complete" | "under way" | "goes on" | "stopped" | "off";
  /** When the first attempt that disagrees was due; `null` if all agree. */
  readonly expected: TimeSpan | null;
}

/** Maximum delay of an attempt: a sender may poll its queue every few seconds, and an attempt may take up to its timeout. */
const maxLateMs = 10_000;
const toleranceMs = (delayMs: number): number => Math.max(2000, delayMs / 10);
export const allowedEarlyMs = (delayMs: number): number => Math.min(delayMs, toleranceMs(delayMs));
export const allowedLateMs = (delayMs: number): number => Math.max(maxLateMs, toleranceMs(delayMs) + responseTimeoutMs);

/** The longest pause of the schedule, with its tolerance. A sender that pauses longer has finished. */
export const maxPauseMs = Math.max(...retryDelaysMs.map((delayMs) => delayMs + allowedLateMs(delayMs)));
/** Time by which every reading of the schedule has the first retry. An attempt without a reply fails only after the sender's timeout. */
export const firstRetryWithinMs = 60_000 + allowedLateMs(60_000) + responseTimeoutMs;

/** When each later retry is overdue, counted from the first attempt. The last entry is the end of the pause after the last retry. */
export const laterRetriesWithinMs: readonly number[] = [...retryDelaysMs.slice(2), maxPauseMs].map(
  (_, at, pauses) => firstRetryWithinMs + sumOf(pauses.slice(0, at + 1).map((ms) => ms + allowedLateMs(ms))),
);

/** Compares the attempts with every reading of the schedule. The best explanation comes first. */
export function explainAttempts(attempts: ObservedAttempts): readonly Explanation[] {
  const all = orders.flatMap((order) =>
    (Object.keys(shapes) as ScheduleShape[]).map((shape) => explainBy(order, shape, attempts)),
  );
  return all.toSorted((one, other) => rank(other) - rank(one));
}

const kindsByRank = ["off", "stopped", "goes on", "under way", "complete"] as const;
const rank = ({ kind, fitting }: ScheduleFit): number => kindsByRank.indexOf(kind) * 100 + fitting;

function explainBy(order: DelayOrder, shape: ScheduleShape, attempts: ObservedAttempts): Explanation {
  const [first] = attempts.created;
  if (first === undefined) throw new RangeError("at least one attempt is required");
  const position: Position = { first, previous: first, matched: 1, step: 0 };
  return { order, shape, ...compareFrom({ delaysMs: shapes[shape], order, attempts }, position) };
}

interface Reading {
  readonly delaysMs: readonly number[];
  readonly order: DelayOrder;
  readonly attempts: ObservedAttempts;
}

/** How far a reading was compared: `step` counts retries of the schedule, `matched` counts attempts. */
interface Position {
  readonly first: TimeSpan;
  readonly previous: TimeSpan;
  readonly matched: number;
  readonly step: number;
}

type ScheduleFit = Omit<Explanation, "order" | "shape">;

function compareFrom(reading: Reading, position: Position): ScheduleFit {
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
  // If the attempt was missed, the schedule goes on from some instant within the expected span.
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
