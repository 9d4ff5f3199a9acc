import { minuteMs } from "../../base/duration.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { LimitBreach } from "./admission/breach.ts";
import type { AdmissionOptions, CountedSpan, History } from "./admission/history.ts";
import { judgeAdmission, type HistoryJudgement, type LimiterReading } from "./admission/judge.ts";
import { type RequestSample, isRefused } from "./sample.ts";

// One reading of what a key has used, by suites, which send one after another, and by load, which sends at once.

/** Windows on servers are kept in whole seconds, by timers, or by several machines: so far may their clock be off, in target ms. */
export const toleranceMs = 1000;
/** What counted in a fixed or rolling minute counts no longer after so long, in target ms. */
export const minuteOverMs = minuteMs + toleranceMs;
/** So late may a server give a slot back after its answer has reached us, in ms of its own real time. */
export const slotReleaseMs = 1500;

/** So soon is soon for a burst, in target ms. */
export const burstMs = 5000;
/** A refusal that lasts longer is the minute's and not the burst's, in seconds. */
export const maxBurstSeconds = 20;

/**
 * Judges all that was sent on a key, by each clock that the target may keep: a breach is one by all of them.
 * @param everyReading whether readings in which refusals count are wanted where others explain the history, too
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

/** Whether a breach is of more than is published or of less; where no one limiter explains it, `isBeyond` tells. */
export function breachSide({ breach }: LimitBreach, isBeyond: () => boolean): "over" | "under" {
  if (breach === "too many admitted") return "over";
  return breach === "no one limiter" && isBeyond() ? "over" : "under";
}

/** The most of these instants that certainly fell within one span of this length, in ms. */
export function maxInClosedWindow(instants: readonly CountedSpan[], windowMs: number): number {
  const sorted = instants.toSorted((a, b) => a.toMs - b.toMs);
  let first = 0;
  let inside = 0;
  let most = 0;
  for (const { toMs, count } of sorted) {
    inside += count;
    for (; toMs - (sorted[first]?.fromMs ?? toMs) > windowMs; first += 1) inside -= sorted[first]?.count ?? 0;
    most = Math.max(most, inside);
  }
  return most;
}

type SentAnswer = Pick<RequestSample, "sentMs" | "status">;

/**
 * Whether a month's tokens may be what refused: they do not come back within a run, so not where a request was admitted after the last refusal.
 * @param admitted those of the answers that would have been refused as well
 */
export function endsRefused(answers: readonly SentAnswer[], admitted: readonly SentAnswer[]): boolean {
  const lastOf = (those: readonly SentAnswer[]): number =>
    those.reduce((last, { sentMs }) => Math.max(last, sentMs), -Infinity);
  return lastOf(answers.filter(isRefused)) > lastOf(admitted);
}
