import { groupsBy } from "../../base/lists.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { isWithinWindow } from "./header-rules.ts";
import type { RequestSample, Sample } from "./sample.ts";

export const isKeyAccepted = ({ status }: Pick<RequestSample, "status">): boolean =>
  status !== null && status !== 401 && status !== 403;

export const groupByWindow = <A extends RequestSample>(responses: readonly A[]): [A, ...A[]][] =>
  groupsBy(
    responses.filter((each) => isKeyAccepted(each) && each.limit !== null && each.reset !== null),
    ({ limit, reset }) => `${limit} ${reset}`,
  );

/** A smaller `Reset` is not in Unix seconds (1e9 is in 2001). HDR-14 reports it, so HDR-15 skips its window. */
const minUnixSeconds = 1e9;
/** Minimum seconds between two compared responses. Over a shorter time, rounding can hide a change. */
const minSeconds = 3;
/** Tolerance for the difference of two `Reset-After` values, each rounded to whole seconds. */
const leftRoundingSeconds = 2.5;

/** Result for one rate-limit window. `mismatch`: `Reset-After` fell too slowly, e.g. from 60 to 57 in 10 seconds. */
interface JudgedTimeLeft<A> {
  readonly first: A;
  readonly last: A;
  readonly mismatch: { readonly expected: string; readonly actual: string } | null;
}

/** Judges HDR-15: within a rate-limit window, `Reset-After` falls as time passes. */
export function judgeTimeLeft<A extends RequestSample>(
  responses: readonly A[],
  limits: TierLimits | null,
  minPassedSeconds: (from: A, to: A) => number,
): JudgedTimeLeft<A>[] {
  const usable = responses.filter((each) => each.resetAfter !== null && isWithinWindow(each, limits));
  return groupByWindow(usable).flatMap((window): JudgedTimeLeft<A>[] => {
    const [first] = window;
    const last = window.at(-1) ?? first;
    if ((first.reset ?? 0) < minUnixSeconds) return [];
    const [before, after] = [first.resetAfter ?? 0, last.resetAfter ?? 0];
    const passed = minPassedSeconds(first, last);
    if (passed < minSeconds || passed > before) return [];
    const isRight = after <= before - passed + leftRoundingSeconds;
    const expected = `\`Reset-After\` falls with time: from ${before} to about ${Math.round(before - passed)}`;
    return [
      { first, last, mismatch: isRight ? null : { expected, actual: `${after}, ${Math.round(passed)} s later` } },
    ];
  });
}

type ReportedTimes = Pick<Sample, "reset" | "resetAfter" | "date">;

/** Times of a request and its response, which limit when the server can have created the response. */
export interface ResponseTimeBounds {
  /** Time from sending the request to receiving the head of the response, in seconds on the target's clock. */
  readonly tookSeconds: number;
  /**
   * Times of the request and the response on the client's clock, in Unix seconds. `null` if that clock is not
   * comparable, e.g. because the target's clock runs faster.
   */
  readonly ours: { readonly fromSeconds: number; readonly toSeconds: number } | null;
}

/** Tolerance of HDR-14: how far `Reset` minus `Reset-After` may be from the time of the response. */
const toleranceSeconds = 2;
/** A `Date` header shows whole seconds. The exact time can be up to a second later. */
const dateCutSeconds = 1;
/** Assumed maximum difference between two clocks that show real time, such as those of a server and this machine. */
const maxSkewSeconds = 300;

/**
 * Judges HDR-14: `Reset` minus `Reset-After` is the time of the response. Returns the wrong values as text, `null` if
 * they are right, `undefined` if a needed value is missing.
 */
export function resetMismatch(
  { reset, resetAfter, date }: ReportedTimes,
  { tookSeconds, ours }: ResponseTimeBounds,
): string | null | undefined {
  if (reset === null || resetAfter === null || (date === null && ours === null)) return undefined;
  const now = reset - resetAfter;
  const agrees = (fromSeconds: number, toSeconds: number): boolean =>
    now >= fromSeconds - toleranceSeconds && now <= toSeconds + toleranceSeconds;
  // A server can set `Date` and the rate-limit headers at any two moments between request and response.
  if (date !== null && agrees(date - tookSeconds, date + dateCutSeconds + tookSeconds)) return null;
  const skewSeconds = date === null ? maxSkewSeconds : 0;
  if (ours !== null && agrees(ours.fromSeconds - skewSeconds, ours.toSeconds + skewSeconds)) return null;
  const clocks = [
    ...(date === null ? [] : [`Date ${date}`]),
    ...(ours === null ? [] : [`our clock ${Math.round(ours.toSeconds)}`]),
  ];
  return `Reset ${reset}, Reset-After ${resetAfter}, ${clocks.join(", ")}`;
}

export interface ResetContext {
  readonly hasClock: boolean;
  readonly startedUnixMs: number;
  /** Maximum lag of a test clock that stands still while the run advances it: the real time that all advances took. */
  readonly maxDriftMs: number;
  readonly first: Sample | null;
}

/** Judges HDR-14 with {@link resetMismatch}, also if the run has advanced the target's test clock. */
export function resetMismatchWithClock(run: ResetContext, sample: Sample): string | null | undefined {
  const { date, sentMs, headMs, sentClockMs, headClockMs } = sample;
  if (run.hasClock && date === null) return judgeByOffsets(run.first ?? sample, sample);
  const wrong = resetMismatch(sample, {
    tookSeconds: (headMs - sentMs + headClockMs - sentClockMs) / 1000,
    ours: {
      fromSeconds: (run.startedUnixMs + sentMs + sentClockMs - run.maxDriftMs) / 1000,
      toSeconds: (run.startedUnixMs + headMs + headClockMs) / 1000,
    },
  });
  if (typeof wrong !== "string" || !run.hasClock) return wrong;
  if (mayDateBeOfProxy(sample, run)) return undefined;
  return mayDateLag(sample, run) ? judgeByOffsets(run.first ?? sample, sample) : wrong;
}

/** Maximum lag of the `Date` header of a busy server or a proxy, in seconds. */
const maxLagSeconds = 7;

function mayDateLag(sample: Sample, { startedUnixMs }: ResetContext): boolean {
  const [now, { date, headMs, headClockMs }] = [createdUnixSeconds(sample), sample];
  if (now === null || date === null) return false;
  const ours = (startedUnixMs + headMs + headClockMs) / 1000;
  return now > date && now - date <= maxLagSeconds && Math.abs(ours - date) >= maxSkewSeconds;
}

/** Whether a proxy may have set `Date`. A proxy uses real time, not the time of the target's test clock. */
function mayDateBeOfProxy(sample: Sample, { startedUnixMs }: ResetContext): boolean {
  const [now, { date, headMs }] = [createdUnixSeconds(sample), sample];
  if (now === null || date === null || Math.abs(now - date) > wrongUnitSeconds) return false;
  return Math.abs(date - (startedUnixMs + headMs) / 1000) < maxSkewSeconds;
}

/** Minimum difference between the reset headers and `Date` that shows a wrong unit, e.g. ms. About three years. */
const wrongUnitSeconds = 1e8;

const createdUnixSeconds = ({ reset, resetAfter }: ReportedTimes): number | null =>
  reset === null || resetAfter === null ? null : reset - resetAfter;

/** Whether a Unix time in seconds lies between the years 2001 and 2286. */
const isOfThisEra = (seconds: number): boolean => seconds > 1e9 && seconds < 1e10;
/** Tolerance: one second for each of two reset headers in each of two responses, and one for the time between them. */
const roundingSeconds = 5;

/**
 * Judges HDR-14 without `Date`. From `first` to `sample`, `Reset` minus `Reset-After` must grow by the time that passed
 * on the target's clock.
 */
function judgeByOffsets(first: Sample, sample: Sample): string | null | undefined {
  const [from, to] = [createdUnixSeconds(first), createdUnixSeconds(sample)];
  if (from === null || to === null || !isOfThisEra(from) || !isOfThisEra(to)) return undefined;
  const minMs = sample.sentClockMs - first.headClockMs + Math.min(0, sample.sentMs - first.headMs);
  const maxMs = sample.headClockMs - first.sentClockMs + Math.max(0, sample.headMs - first.sentMs);
  const isRight = to - from >= minMs / 1000 - roundingSeconds && to - from <= maxMs / 1000 + roundingSeconds;
  return isRight
    ? null
    : `Reset ${sample.reset}, Reset-After ${sample.resetAfter}, the first answer's clock ${Math.round(from)}`;
}
