import { sumOf } from "../../base/numbers.ts";
import { deliveryPolicy } from "../../spec/events.ts";

/** A span of the target's time, in milliseconds. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** All that was seen of one delivery that failed at every attempt. Times are the target's, in milliseconds. */
export interface ObservedAttempts {
  /** When each attempt was made, as closely as is known, in order. */
  readonly made: readonly TimeSpan[];
  /** An attempt made before this was seen. */
  readonly untilMs: number;
  /** When nobody looked: an attempt may have come then. */
  readonly unwatched: readonly TimeSpan[];
}

export type Order = "from-previous" | "from-first";
export type ScheduleShape = "five-attempts" | "six-attempts" | "four-retries";

const { retryDelaysMs, responseTimeoutMs } = deliveryPolicy;

/** Delays of the retries, by what "immediately" and "5 failed attempts" are taken to mean. */
const shapes: Readonly<Record<ScheduleShape, readonly number[]>> = {
  "five-attempts": retryDelaysMs.slice(1),
  "six-attempts": retryDelaysMs,
  "four-retries": retryDelaysMs.slice(0, -1),
};
const orders: readonly Order[] = ["from-previous", "from-first"];

/** How far the attempts follow one reading of the schedule. */
export interface Explanation {
  readonly order: Order;
  readonly shape: ScheduleShape;
  /** Attempts that fit, the first one included. */
  readonly fitting: number;
  /**
   * `complete`: every attempt of the schedule, and no more. `under way`: so far, and the next may still come. `goes on`: every
   * attempt, and then more. `stopped`: the next should have come. `off`: the next came at another time.
   */
  readonly kind: "complete" | "under way" | "goes on" | "stopped" | "off";
  /** When the first attempt that does not fit should have been made; `null` where all fit. */
  readonly expected: TimeSpan | null;
}

/** A polling sender looks at its queue every few seconds, and an attempt may itself take up to its time limit. */
const mostLateMs = 10_000;
const toleranceMs = (delayMs: number): number => Math.max(2000, delayMs / 10);
export const allowedEarlyMs = (delayMs: number): number => Math.min(delayMs, toleranceMs(delayMs));
export const allowedLateMs = (delayMs: number): number =>
  Math.max(mostLateMs, toleranceMs(delayMs) + responseTimeoutMs);

/** The longest pause of the schedule, with its tolerance: who was quiet for so long is done. */
export const maxPauseMs = Math.max(...retryDelaysMs.map((delayMs) => delayMs + allowedLateMs(delayMs)));
/** A failed delivery was tried again by then in every reading; an attempt without an answer fails some seconds late. */
export const firstRetryWithinMs = 60_000 + allowedLateMs(60_000) + responseTimeoutMs;

/** The same for the retries that follow the first one, each counted from the previous, and for the silence that follows the last. */
export const laterRetriesWithinMs: readonly number[] = [...retryDelaysMs.slice(2), maxPauseMs].map(
  (_, at, pauses) => firstRetryWithinMs + sumOf(pauses.slice(0, at + 1).map((ms) => ms + allowedLateMs(ms))),
);

/** The attempts by every reading of the schedule, the one that explains most of them first. */
export function explainAttempts(attempts: ObservedAttempts): readonly Explanation[] {
  const all = orders.flatMap((order) =>
    (Object.keys(shapes) as ScheduleShape[]).map((shape) => explainBy(order, shape, attempts)),
  );
  return all.toSorted((one, other) => merit(other) - merit(one));
}

const kindsByMerit = ["off", "stopped", "goes on", "under way", "complete"] as const;
const merit = ({ kind, fitting }: ScheduleFit): number => kindsByMerit.indexOf(kind) * 100 + fitting;

function explainBy(order: Order, shape: ScheduleShape, attempts: ObservedAttempts): Explanation {
  const [first] = attempts.made;
  if (first === undefined) throw new RangeError("a delivery of which no attempt was seen cannot be explained");
  const trail: Trail = { first, previous: first, seen: 1, step: 0 };
  return { order, shape, ...follow({ delaysMs: shapes[shape], order, attempts }, trail) };
}

interface Rule {
  readonly delaysMs: readonly number[];
  readonly order: Order;
  readonly attempts: ObservedAttempts;
}

/** How far a reading was followed: `step` counts retries of the schedule, `seen` counts attempts. */
interface Trail {
  readonly first: TimeSpan;
  readonly previous: TimeSpan;
  readonly seen: number;
  readonly step: number;
}

type ScheduleFit = Omit<Explanation, "order" | "shape">;

function follow(rule: Rule, trail: Trail): ScheduleFit {
  const { delaysMs, order, attempts } = rule;
  const { seen, step } = trail;
  const next = attempts.made[seen];
  const delayMs = delaysMs[step];
  if (delayMs === undefined)
    return { kind: next === undefined ? "complete" : "goes on", fitting: seen, expected: null };
  const base = order === "from-first" ? trail.first : trail.previous;
  const expected = {
    fromMs: base.fromMs + delayMs - allowedEarlyMs(delayMs),
    toMs: base.toMs + delayMs + allowedLateMs(delayMs),
  };

  const outcomes: ScheduleFit[] = [];
  if (next !== undefined && meets(next, expected))
    outcomes.push(follow(rule, { ...trail, previous: common(next, expected), seen: seen + 1, step: step + 1 }));
  // Not seen, because nobody looked: the schedule goes on from somewhere within the span.
  if (attempts.unwatched.some((span) => meets(span, expected)))
    outcomes.push(follow(rule, { ...trail, previous: expected, step: step + 1 }));
  if (next === undefined && expected.toMs >= attempts.untilMs)
    outcomes.push({ kind: "under way", fitting: seen, expected: null });
  if (outcomes.length === 0) return { kind: next === undefined ? "stopped" : "off", fitting: seen, expected };
  return outcomes.reduce((best, each) => (merit(each) > merit(best) ? each : best));
}

const meets = (one: TimeSpan, other: TimeSpan): boolean => one.fromMs <= other.toMs && other.fromMs <= one.toMs;
const common = (one: TimeSpan, other: TimeSpan): TimeSpan => ({
  fromMs: Math.max(one.fromMs, other.fromMs),
  toMs: Math.min(one.toMs, other.toMs),
});
