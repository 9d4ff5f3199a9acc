import type { TierLimits } from "../../spec/tiers.ts";
import type { KeyHistory } from "./key-history.ts";
import { isMinuteLimit } from "./header-rules.ts";
import { type RequestSample, isAdmitted, isRefused, isAgentCall } from "./sample.ts";

/** Bounds of the time between two requests, in seconds of the target's clock. */
export interface Elapsed {
  /** Minimum time: from the response to the first request until the second request is sent. */
  readonly min: number;
  /** Maximum time: from sending the first request until the response to the second. */
  readonly max: number;
}

interface ExhaustedWindowInput<S extends RequestSample> extends KeyHistory<S> {
  readonly elapsed: (from: S, to: S) => Elapsed;
}

interface AdmittedWhenExhausted<A> {
  readonly exhausted: A;
  readonly admitted: readonly A[];
}

type ExhaustedWindowVerdict<A> =
  | { readonly kind: "kept"; readonly count: number }
  | { readonly kind: "broken"; readonly beyond: AdmittedWhenExhausted<A> }
  | { readonly kind: "not tested" };

/** Tolerance for values of headers, which servers round to whole seconds. */
const roundingSeconds = 1;
/** Tolerance for elapsed times: one second of rounding, and one second for errors of the server's clock. */
const slackSeconds = 2;

/**
 * Judges HDR-19: after `Remaining: 0`, no further request is admitted until the reset. Allows for legal limiters that
 * regain capacity earlier, such as rolling windows.
 */
export function judgeExhausted<A extends RequestSample>(facts: ExhaustedWindowInput<A>): ExhaustedWindowVerdict<A> {
  const samples = facts.samples.toSorted((one, other) => one.sentMs - other.sentMs);
  let count = 0;
  for (const [index, exhausted] of samples.entries()) {
    const window = windowOf(exhausted, facts.limits);
    if (window === null) continue;
    const after = agentCallsUntilReset(exhausted, samples, index, facts);
    const admitted = after.filter((each) => isAdmitted(each) && isOfWindow(exhausted, each));
    if (admitted.length > 0) {
      const around = samplesAround(window, samples, index, facts);
      const maxUpTo = maxAdmitted(exhausted, window, { ...facts, samples: around, began: samples[0] ?? exhausted });
      const first = admitted.findIndex((each, at) => at + 1 > maxUpTo(each));
      if (first >= 0) return { kind: "broken", beyond: { exhausted, admitted: admitted.slice(0, first + 1) } };
    }
    if (after.some(isRefused)) count += 1;
  }
  return count > 0 ? { kind: "kept", count } : { kind: "not tested" };
}

export const exhaustedWindowRule =
  "once a response reports `Remaining: 0`, no further request of that window is admitted";

export const describeAdmittedWhenExhausted = ({ exhausted, admitted }: AdmittedWhenExhausted<RequestSample>): string =>
  `0 of ${exhausted.limit} left for ${exhausted.resetAfter} s, and ${admitted.length} more admitted with the same reset`;

interface ExhaustedWindow {
  readonly seconds: number;
  readonly limit: number;
  readonly leftSeconds: number;
}

function windowOf(response: RequestSample, limits: TierLimits): ExhaustedWindow | null {
  const { limit, remaining, reset, resetAfter } = response;
  if (!isAdmitted(response) || remaining !== 0 || limit === null || reset === null || resetAfter === null) return null;
  const isHour = limit === limits.perHour;
  if (!isHour && !isMinuteLimit(limit, limits)) return null;
  const seconds = isHour ? 3600 : 60;
  return resetAfter <= seconds + roundingSeconds ? { seconds, limit, leftSeconds: resetAfter } : null;
}

function agentCallsUntilReset<A extends RequestSample>(
  exhausted: A,
  samples: readonly A[],
  index: number,
  { elapsed }: ExhaustedWindowInput<A>,
): A[] {
  const untilSeconds = (exhausted.resetAfter ?? 0) - roundingSeconds - slackSeconds;
  const found: A[] = [];
  for (let at = index + 1; at < samples.length; at += 1) {
    const each = samples[at];
    if (each === undefined || elapsed(exhausted, each).min > untilSeconds) break;
    if (isAgentCall(each) && each.sentMs >= exhausted.headMs && elapsed(exhausted, each).max < untilSeconds)
      found.push(each);
  }
  return found;
}

function samplesAround<A extends RequestSample>(
  { seconds }: ExhaustedWindow,
  samples: readonly A[],
  index: number,
  { elapsed }: ExhaustedWindowInput<A>,
): A[] {
  const mayMatter = (at: number, other: number): boolean => {
    const [from, to] = [samples[at], samples[other]];
    return from !== undefined && to !== undefined && elapsed(from, to).min <= 2 * seconds + slackSeconds;
  };
  let first = index;
  while (mayMatter(first - 1, index)) first -= 1;
  let end = index + 1;
  while (mayMatter(index, end)) end += 1;
  return samples.slice(first, end).filter(({ kind }) => kind !== "health");
}

const isOfWindow = (exhausted: RequestSample, later: RequestSample): boolean =>
  later.limit === exhausted.limit &&
  later.reset !== null &&
  Math.abs(later.reset - (exhausted.reset ?? 0)) <= roundingSeconds;

/**
 * Returns a function of a later request. Its result is the maximum number of requests that a legal limiter can have
 * admitted after `exhausted`, including that request.
 */
function maxAdmitted<A extends RequestSample>(
  exhausted: A,
  { seconds, limit, leftSeconds }: ExhaustedWindow,
  { samples, limits, isFresh, began, elapsed }: ExhaustedWindowInput<A> & { readonly began: A },
): (later: A) => number {
  const sinceBeginning = elapsed(began, exhausted).min;
  const fadingSeconds = 2 * seconds - leftSeconds + slackSeconds;
  const mayRoll = leftSeconds >= seconds - slackSeconds;
  const isBefore = (each: A): boolean =>
    each.sentMs < exhausted.sentMs &&
    // In a fixed window, requests with the same reset as `exhausted` free no capacity before that reset.
    (mayRoll || !isOfWindow(exhausted, each)) &&
    elapsed(each, exhausted).min <= fadingSeconds &&
    elapsed(each, exhausted).max >= seconds - leftSeconds - slackSeconds;
  const hasUnknownUse = !isFresh && sinceBeginning < fadingSeconds;
  const fading = hasUnknownUse ? limit : Math.min(limit, samples.filter(isBefore).length);
  const maySecretlyRoll = mayRoll && !isFresh && sinceBeginning < seconds + slackSeconds;
  const perSecond = seconds === 60 ? limits.perMinute / 60 : 0;
  return (later) => {
    if (maySecretlyRoll) return Infinity;
    const { max } = elapsed(exhausted, later);
    const faded = fading === 0 ? 0 : Math.min(fading, 1 + Math.ceil((fading * max) / seconds));
    const refilled = Math.min(Math.floor(2 * roundingSeconds * perSecond), 1 + Math.floor(perSecond * max));
    const hasLeft = (each: A): boolean =>
      elapsed(each, exhausted).min <= seconds + slackSeconds && elapsed(each, later).max >= seconds - slackSeconds;
    const left = mayRoll ? samples.filter(hasLeft).length : 0;
    const takenBack = samples.filter((each) => mayBeTakenBack(each, exhausted, later)).length;
    return Math.max(faded, refilled, left) + takenBack;
  };
}

/**
 * Whether the server can have counted the request `each` and undone this before `later`, e.g. after a 500. Never for an
 * admitted request. For a 429, only if concurrent with `exhausted`.
 */
function mayBeTakenBack(each: RequestSample, exhausted: RequestSample, later: RequestSample): boolean {
  if (isAdmitted(each) || each.sentMs >= later.headMs) return false;
  return isRefused(each) ? each.sentMs < exhausted.headMs && each.headMs > exhausted.sentMs : true;
}
