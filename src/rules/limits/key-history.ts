import { minuteMs } from "../../base/duration.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { LimitBreach } from "./admission/breach.ts";
import type { AdmissionOptions, CountedSpan, History } from "./admission/history.ts";
import { judgeAdmission, type HistoryJudgement, type LimiterReading } from "./admission/judge.ts";
import { type RequestSample, isRefused } from "./sample.ts";

/** All requests on one key, with its limits. Suites and load add what only they know. */
export interface KeyHistory<S extends RequestSample, L extends TierLimits | null = TierLimits> {
  /** The requests, in any order. */
  readonly samples: readonly S[];
  /** Limits of the key's tier. */
  readonly limits: L;
  /** Whether no earlier use of the key can still count. */
  readonly isFresh: boolean;
}

// Judging the use of one key. Suites send requests in sequence, load sends them at once; both are judged by these
// functions.

/**
 * How far a server's clock may be off, in target ms: windows are kept in whole seconds, by timers, or by several
 * machines.
 */
export const toleranceMs = 1000;
/** Target ms after which a request no longer counts in a fixed or rolling minute. */
export const minuteOverMs = minuteMs + toleranceMs;
/** How long a server may take to free a slot after its response has reached us, in real ms. */
export const slotReleaseMs = 1500;

/** Requests within this time, in target ms, are one burst. */
export const burstMs = 5000;
/** The longest `retry_after` of a burst limit, in seconds: a longer one is the minute's. */
export const maxBurstSeconds = 20;

/**
 * Judges all requests on a key by each clock that the target may keep. It is a breach only if it is one by all of them.
 * @param everyReading whether to return readings in which refusals count even if another reading explains the history
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

/** Whether a breach means more or fewer requests than published. For `inconsistent`, `isBeyond` decides. */
export function breachSide({ breach }: LimitBreach, isBeyond: () => boolean): "over" | "under" {
  if (breach === "too many admitted") return "over";
  return breach === "inconsistent" && isBeyond() ? "over" : "under";
}

/**
 * Returns the largest number of instants that certainly fell within one span of this length. The span's end is
 * included.
 */
export function maxInClosedWindow(instants: readonly CountedSpan[], windowMs: number): number {
  const sorted = instants.toSorted((a, b) => a.toMs - b.toMs);
  let first = 0;
  let inside = 0;
  let max = 0;
  for (const { toMs, count } of sorted) {
    inside += count;
    for (; toMs - (sorted[first]?.fromMs ?? toMs) > windowMs; first += 1) inside -= sorted[first]?.count ?? 0;
    max = Math.max(max, inside);
  }
  return max;
}

type SentAnswer = Pick<RequestSample, "sentMs" | "status">;

/**
 * Whether exhausted tokens of the month may explain the refusals. Tokens do not come back within a run, so an admitted
 * request after the last refusal rules them out.
 * @param admitted the admitted requests that exhausted tokens would have refused
 */
export function endsRefused(answers: readonly SentAnswer[], admitted: readonly SentAnswer[]): boolean {
  const lastOf = (those: readonly SentAnswer[]): number =>
    those.reduce((last, { sentMs }) => Math.max(last, sentMs), -Infinity);
  return lastOf(answers.filter(isRefused)) > lastOf(admitted);
}
