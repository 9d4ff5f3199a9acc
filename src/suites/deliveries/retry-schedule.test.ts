import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  type ObservedAttempts,
  explainAttempts,
  type ScheduleMatch,
  allowedLateMs,
  type DelayOrigin,
  type ScheduleShape,
  type TimeSpan,
} from "./retry-schedule.ts";

const minute = 60_000;
const hour = 60 * minute;
const retries: Readonly<Record<ScheduleShape, readonly number[]>> = {
  "five-attempts": [minute, 5 * minute, 30 * minute, 2 * hour],
  "six-attempts": [0, minute, 5 * minute, 30 * minute, 2 * hour],
  "four-retries": [0, minute, 5 * minute, 30 * minute],
};
const delaysOfShape = Object.keys(retries) as ScheduleShape[];
const origins: readonly DelayOrigin[] = ["from-previous", "from-first"];

/** The times of attempts by a reading of the schedule; `off` is added to each delay. */
function timesBy(
  origin: DelayOrigin,
  shape: ScheduleShape,
  off: (delayMs: number, at: number) => number = () => 0,
): number[] {
  const times = [1000];
  for (const [at, delayMs] of retries[shape].entries()) {
    const base = origin === "from-first" ? 1000 : (times.at(-1) ?? 0);
    times.push(base + delayMs + off(delayMs, at));
  }
  return times;
}

const exactly = (times: readonly number[]): TimeSpan[] => times.map((ms) => ({ fromMs: ms, toMs: ms }));
const observe = (times: readonly number[], more: Partial<ObservedAttempts> = {}): ObservedAttempts => ({
  created: exactly(times),
  untilMs: 10 * hour,
  unwatched: [],
  ...more,
});
const bestOf = (attempts: ObservedAttempts): ScheduleMatch => {
  const [best] = explainAttempts(attempts);
  if (best === undefined) throw new Error("no explanation");
  return best;
};
const readings = (attempts: ObservedAttempts, kind: ScheduleMatch["kind"]): string[] =>
  explainAttempts(attempts)
    .filter((each) => each.kind === kind)
    .map(({ origin, shape }) => `${origin}, ${shape}`);

const anyOrigin = fc.constantFrom(...origins);
const anyShape = fc.constantFrom(...delaysOfShape);
/** How late each retry of a correct sender is, as a share of the tolerance. */
const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 });

describe("the retry schedule", () => {
  it.each(origins.flatMap((origin) => delaysOfShape.map((shape) => [origin, shape] as const)))(
    "%s, %s",
    (origin, shape) => {
      expect(readings(observe(timesBy(origin, shape)), "complete")).toEqual([`${origin}, ${shape}`]);
    },
  );

  it("fits attempts by any reading that are late within the tolerance", () => {
    fc.assert(
      fc.property(anyOrigin, anyShape, shares, (origin, shape, late) => {
        const times = timesBy(origin, shape, (delayMs, at) => allowedLateMs(delayMs) * (late[at] ?? 0));
        expect(readings(observe(times), "complete")).toContain(`${origin}, ${shape}`);
      }),
    );
  });

  it("fits attempts whose time is only known as a span", () => {
    fc.assert(
      fc.property(anyOrigin, anyShape, shares, (origin, shape, blur) => {
        const created = timesBy(origin, shape).map((ms, at) => ({
          fromMs: ms - 20_000 * (blur[at] ?? 0),
          toMs: ms + 20_000 * (blur[4 - at] ?? 0),
        }));
        expect(readings(observe([], { created }), "complete")).toContain(`${origin}, ${shape}`);
      }),
    );
  });

  it("is under way until its last attempt is overdue", () => {
    fc.assert(
      fc.property(anyOrigin, anyShape, fc.integer({ min: 0, max: 3 * hour }), (origin, shape, untilMs) => {
        const times = timesBy(origin, shape).filter((ms) => ms <= Math.max(1000, untilMs));
        expect(bestOf(observe(times, { untilMs })).kind).toMatch(/^(complete|under way)$/);
      }),
    );
  });

  it("is not broken by an attempt that may have been missed", () => {
    fc.assert(
      fc.property(anyOrigin, anyShape, fc.integer({ min: 1, max: 4 }), (origin, shape, hidden) => {
        const times = timesBy(origin, shape);
        const missed = times[hidden];
        if (missed === undefined) return;
        const unwatched = [{ fromMs: missed - minute / 4, toMs: missed + minute / 4 }];
        const left = times.filter((ms, at) => at === 0 || Math.abs(ms - missed) > minute / 4);
        expect(bestOf(observe(left, { unwatched })).kind).toMatch(/^(complete|under way)$/);
      }),
    );
  });

  it.each([
    ["no retry", [0], "stopped", 1],
    ["a retry after two minutes", [0, 2 * minute], "off", 1],
    ["a retry too early", [0, 40_000], "off", 1],
    ["a retry that comes twelve seconds late", [0, 72_000], "off", 1],
    ["two retries and no more", [0, minute, 6 * minute], "stopped", 3],
    ["a retry each minute", [0, 1, 2, 3, 4, 5, 6, 7].map((at) => at * minute), "off", 2],
    ["exponential back-off", [0, 1000, 3000, 7000, 15_000], "off", 2],
    ["an hour for the last", [0, minute, 6 * minute, 36 * minute, 96 * minute], "off", 4],
    ["one more after the fifth", [0, minute, 6 * minute, 36 * minute, 156 * minute, 276 * minute], "goes on", 5],
    ["one more after the sixth", [0, 0, minute, 6 * minute, 36 * minute, 156 * minute, 276 * minute], "goes on", 6],
  ] as const)("is broken by %s", (_, times, kind, fitting) => {
    const best = bestOf(observe(times));
    expect(best.kind).toBe(kind);
    expect(Math.max(...explainAttempts(observe(times)).map((each) => each.fitting))).toBe(fitting);
  });
});
