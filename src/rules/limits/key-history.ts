import { minuteMs } from "../../base/duration.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { LimitBreach } from "./admission/breach.ts";
import type { AdmissionOptions, CountedSpan, History } from "./admission/history.ts";
import { judgeAdmission, type HistoryJudgement, type LimiterReading } from "./admission/judge.ts";
import { type RequestSample, isRefused } from "./sample.ts";
import { rounded } from "../../base/numbers.ts";

export interface KeyHistory<S extends RequestSample, L extends TierLimits | null = TierLimits> {
  readonly samples: readonly S[];
  readonly limits: L;
  /** Whether the key certainly had its full allowance of requests at the first sample. */
  readonly isFresh: boolean;
}

/** Tolerance for a server that rounds times to whole seconds, in ms on the target's clock. */
export const toleranceMs = 1000;
/** Time until a one-minute window is certainly over, in ms on the target's clock. */
export const minuteOverMs = minuteMs + toleranceMs;
/** Time that a server may take to free a concurrency slot after its response, in ms of real time. */
export const slotReleaseMs = 1500;

/** Requests within this time count as one burst, in ms on the target's clock. */
export const burstMs = 5000;
/** A 429 with a longer `retry_after` comes from the limit per minute. A burst limit admits a request again sooner. */
export const maxBurstSeconds = 20;

/**
 * Judges a key's requests once for each possible behaviour of the target's clock, e.g. that a test clock stands still.
 * Returns a breach only if every judgement is a breach.
 */
export function judgeByClocks(
  histories: readonly History[],
  limits: TierLimits,
  options: AdmissionOptions,
  everyReading: boolean,
): HistoryJudgement {
  const breaches: LimitBreach[] = [];
  const readings: LimiterReading[] = [];
  for (const history of histories) {
    const judgement = judgeAdmission(history, limits, options, everyReading);
    if (judgement.kind === "explained") readings.push(...judgement.readings);
    else breaches.push(judgement);
  }
  const [breach] = breaches;
  return breach !== undefined && breaches.length === histories.length ? breach : { kind: "explained", readings };
}

/**
 * Returns `over` if the target admitted too many requests, `under` if too few. An `inconsistent` breach is `over` if
 * `isBeyond` returns true: the target admitted more than the published limit.
 */
export function breachSide({ breach }: LimitBreach, isBeyond: () => boolean): "over" | "under" {
  if (breach === "too many admitted") return "over";
  return breach === "inconsistent" && isBeyond() ? "over" : "under";
}

/** Returns the maximum number of requests that certainly fall within one period of `windowMs`, both ends included. */
export function maxInClosedWindow(instants: readonly CountedSpan[], windowMs: number): number {
  const fitting = instants.filter(({ fromMs, toMs }) => toMs - fromMs <= windowMs);
  const byStart = fitting.toSorted((a, b) => a.fromMs - b.fromMs);
  let [first, inside, max] = [0, 0, 0];
  for (const { toMs, count } of fitting.toSorted((a, b) => a.toMs - b.toMs)) {
    inside += count;
    for (; toMs - (byStart[first]?.fromMs ?? toMs) > windowMs; first += 1) inside -= byStart[first]?.count ?? 0;
    max = Math.max(max, inside);
  }
  return max;
}

type SentAnswer = Pick<RequestSample, "sentMs" | "status">;

/** Whether requests were refused, and none was admitted after the last refusal, as when a token quota is used up. */
export function noAdmissionAfterLastRefusal(answers: readonly SentAnswer[], admitted: readonly SentAnswer[]): boolean {
  const lastOf = (those: readonly SentAnswer[]): number =>
    those.reduce((last, { sentMs }) => Math.max(last, sentMs), -Infinity);
  return lastOf(answers.filter(isRefused)) > lastOf(admitted);
}

/**
 * Minimum `retry_after`, in seconds, for tests of early retries. If `retry_after` is shorter, rounding can explain why
 * an early retry is admitted.
 */
export const minEarlySeconds = 4;

/** Maximum seconds by which rounding makes two values for the same wait differ, e.g. in body and header. */
export const maxRoundingSeconds = 2;

/** Whether a retry came at least 2 s before the end of `retry_after`, and so certainly too early (LIM-14). */
export const isWellBefore = (passedAtMostSeconds: number, retryAfterSeconds: number): boolean =>
  passedAtMostSeconds <= retryAfterSeconds - maxRoundingSeconds;

export const describeEarlyRefusal = (passedSeconds: number, retryAfterSeconds: number): string =>
  `still 429 after ${formatSeconds(passedSeconds)}, as \`retry_after\` was ${retryAfterSeconds}`;

export const describeAdmission = (retryAfterSeconds: number): string =>
  `a request is admitted ${retryAfterSeconds} s after the refusal`;

export const formatSeconds = (seconds: number): string => `${rounded(seconds, 1)} s`;
