import { countUpTo, sortedValues } from "../../base/lists.ts";
import type { KeyRole, Scenario } from "../scenarios.ts";
import { type HistoryJudgement, type PossibleShapes, possibleShapes } from "../../rules/limits/admission/judge.ts";
import {
  judgeByClocks,
  type KeyHistory,
  noAdmissionAfterLastRefusal,
  slotReleaseMs,
  toleranceMs,
} from "../../rules/limits/key-history.ts";
import type { AdmissionOptions, History } from "../../rules/limits/admission/history.ts";
import type { Elapsed } from "../../rules/limits/exhausted-window.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import { evidenceBefore, targetLossIn } from "./target-loss.ts";
import { historyOf } from "./histories.ts";
import { tokensMayExplain } from "../../rules/limits/month-tokens.ts";
import { isAdmitted, isAgentCall, isRefused } from "../../rules/limits/sample.ts";
import { type SampledRequest, sampledRequests } from "./sampled-requests.ts";
import { usageCountIn } from "../../rules/limits/usage-report.ts";
import { targetTime, type TargetTime, withClockLag } from "./target-time.ts";
import { type Validity, validityOf } from "./validity.ts";
import type { LimitBreach } from "../../rules/limits/admission/breach.ts";
import { minuteMs } from "../../base/duration.ts";

/**
 * {@link findFirstMinuteBreach} judges only this many ms of the target's time, from the first request on. The time is
 * shorter than a minute, so a rolling window still contains every request.
 */
const maxSpanMs = 55_000;
const roundingSeconds = 1;
/** Tolerance for a `retry_after` above the necessary wait, in ms. Servers round up, or add some seconds. */
const maxReportedExcessMs = 4000;

type SentRequests = Pick<KeyFacts, "samples" | "history" | "limits" | "sentBefore">;

/** Finds a breach of the limit per minute in a fresh key's first minute; `null` if none is proven. */
function findFirstMinuteBreach(use: SentRequests, time: TargetTime): LimitBreach | null {
  const { samples: sent, history, sentBefore } = use;
  const { perMinute, perHour, burst } = use.limits;
  const [first] = sent;
  if (history.priorUse !== "nothing" || burst === null || perMinute === perHour || first === undefined) return null;
  const endMs = time.at(first.sentMs).fromMs + maxSpanMs;
  const early = sent.filter((each) => each.kind !== "health" && time.at(each.headMs).toMs < endMs);
  const reset = early.find((each) => isAgentCall(each) && isAdmitted(each))?.reset ?? null;
  const isOfWindow = (each: SampledRequest): boolean =>
    each.limit === perMinute && reset !== null && Math.abs((each.reset ?? 0) - reset) <= roundingSeconds;
  const inWindow = early.filter((each) => isAgentCall(each) && isAdmitted(each) && isOfWindow(each));
  const admitted = inWindow.slice(countOfPreviousMinute(inWindow, use, time));
  const over = (addition: string, more: readonly SampledRequest[]): LimitBreach => ({
    kind: "breach",
    breach: "too many admitted",
    limit: "minute",
    expected: `at most ${perMinute} requests in a minute, or ${perMinute + burst} where the burst comes on top of them`,
    actual: `${admitted.length} admitted in one minute, by the reset in the headers${addition}`,
    witness: [...admitted, ...more].map(({ id }) => id),
  });
  if (admitted.length > perMinute + burst + refillOf(admitted, perMinute, time)) return over("", []);
  if (admitted.length <= perMinute) return null;
  const waits = new Map(history.decisions.map(({ id, reportedWaitMs }) => [id, reportedWaitMs]));
  const refusal = early.find((each) => isRefused(each) && isOfWindow(each) && waits.get(each.id) !== undefined);
  if (refusal === undefined) return null;
  const others = early.filter((each) => each.sentMs <= refusal.headMs && each.id !== refusal.id);
  const refusedBefore = others.filter(isRefused).length;
  const gainsAfterMs = ((1 + refusedBefore) * minuteMs) / perMinute;
  if ((waits.get(refusal.id) ?? 0) <= gainsAfterMs + maxReportedExcessMs) return null;
  // Refused requests, and requests that the harness sent before the load, may also have counted toward the limit.
  const maxCounted = Math.max(admitted.length, others.length + sentBefore);
  const isExplained = [burst, perMinute + burst].some((limit) => admitted.length <= limit && limit <= maxCounted);
  if (isExplained) return null;
  return over(", and then refused as used up", [refusal]);
}

/**
 * Returns how many of the admitted requests may count toward the previous minute. If the minute changes between the
 * server's decision and its response, the headers show the new minute.
 */
function countOfPreviousMinute(admitted: readonly SampledRequest[], use: SentRequests, time: TargetTime): number {
  const firstHeadMs = admitted.reduce((min, { headMs }) => Math.min(min, headMs), Infinity);
  const isDoubtful = (each: SampledRequest): boolean => each.sentMs < firstHeadMs && mayPrecede(each, time);
  const doubtful = admitted.filter(isDoubtful);
  const certain = admitted.filter((each) => !isDoubtful(each));
  const inWindow = new Set(admitted);
  const others = use.samples.filter((each) => each.kind !== "health" && !inWindow.has(each));
  return Math.max(0, doubtful.length - unexplainedUse(certain, others, use));
}

/**
 * Returns how many used requests of the minute neither `certain` nor `others` explain, by the `Remaining` of `certain`.
 * A response's `Remaining` shows how many requests the server counted first. If two responses report the same, it does
 * not show that order. Then all requests that were sent before a response may explain its `Remaining`.
 */
function unexplainedUse(
  certain: readonly SampledRequest[],
  others: readonly SampledRequest[],
  { limits: { perMinute }, sentBefore }: SentRequests,
): number {
  const usedBy = ({ remaining }: SampledRequest): number => perMinute - (remaining ?? perMinute);
  const counted = certain.filter(({ remaining }) => remaining !== 0).toSorted((a, b) => usedBy(a) - usedBy(b));
  const showsOrder = new Set(counted.map(usedBy)).size === counted.length;
  const sentMs = sortedValues(showsOrder ? others : [...certain, ...others], (each) => each.sentMs);
  return counted.reduce((max, each, index) => {
    const explained = (showsOrder ? index + 1 : 0) + countUpTo(sentMs, each.headMs) + sentBefore;
    return Math.max(max, usedBy(each) - explained);
  }, 0);
}

function mayPrecede({ sentMs, headMs, resetAfter }: SampledRequest, time: TargetTime): boolean {
  const tookMs = time.at(headMs).toMs - time.at(sentMs).fromMs;
  return resetAfter === null || (resetAfter + roundingSeconds) * 1000 + tookMs > minuteMs;
}

/**
 * Returns how many requests a token bucket can regain between the first request and the last response. Adds a tolerance
 * of 1 s at each end.
 */
function refillOf(admitted: readonly SampledRequest[], perMinute: number, time: TargetTime): number {
  const fromMs = admitted.reduce((min, { sentMs }) => Math.min(min, time.at(sentMs).fromMs), Infinity);
  const toMs = admitted.reduce((max, { headMs }) => Math.max(max, time.at(headMs).toMs), -Infinity);
  return admitted.length === 0 ? 0 : Math.ceil(((toMs - fromMs + 2000) * perMinute) / minuteMs);
}

export interface KeyFacts extends KeyHistory<SampledRequest> {
  readonly key: KeyRole;
  readonly history: History;
  readonly options: AdmissionOptions;
  /** Requests that the harness sent with the key just before the load, e.g. to register a webhook. */
  readonly sentBefore: number;
  /** Judges whether any legal rate limiter explains the key's history. Only the first call computes the judgement. */
  judgement(): HistoryJudgement;
  /** Returns the limiter shapes, e.g. `fixed`, that can explain the history; `null` if none can. */
  shapes(): PossibleShapes | null;
}

export interface LoadFacts {
  readonly evidence: LoadEvidence;
  readonly scenario: Scenario;
  readonly limits: TierLimits;
  readonly validity: Validity;
  readonly time: TargetTime;
  /** All requests in order of sending. Empty for a long run, whose evidence has only counts. */
  readonly sent: readonly SampledRequest[];
  readonly main: KeyFacts;
  readonly second: KeyFacts | null;
}

export const keyFactsIn = ({ main, second }: LoadFacts): KeyFacts[] => (second === null ? [main] : [main, second]);

/** Whether the evidence has counts per second instead of single requests, as after a long run. */
export const hasCountsOnly = ({ evidence }: Pick<LoadFacts, "evidence">): boolean =>
  evidence.requests.length === 0 && evidence.summary.length > 0;

export function factsOf(whole: LoadEvidence, scenario: Scenario): LoadFacts {
  const loss = targetLossIn(whole);
  const evidence = loss === null ? whole : evidenceBefore(loss, whole);
  const sent = sampledRequests(evidence);
  const time = withClockLag(targetTime(sent, evidence.speed), evidence.clockLagMs ?? 0);
  const use = (key: KeyRole): KeyFacts =>
    keyFactsOf(
      key,
      sent.filter((each) => each.key === key),
      evidence,
      time,
    );
  const hasSecond = sent.some(({ key }) => key === "second") || evidence.summary.some(({ key }) => key === "second");
  return {
    evidence,
    scenario,
    limits: evidence.limits,
    validity: validityOf(whole),
    time,
    sent,
    main: use("main"),
    second: hasSecond ? use("second") : null,
  };
}

function keyFactsOf(
  key: KeyRole,
  samples: readonly SampledRequest[],
  evidence: LoadEvidence,
  time: TargetTime,
): KeyFacts {
  const history = historyOf(key, samples, evidence, time);
  const options = optionsOf(key, samples, evidence);
  const use = { samples, history, limits: evidence.limits, sentBefore: sentBeforeLoad(key, evidence) };
  const computeJudgement = (): HistoryJudgement => {
    // After a refusal, also tries limiters that count refused requests: LIM-16 observes whether the server does.
    const hasRefusals = history.decisions.some(({ outcome }) => outcome === "refused");
    const found = judgeByClocks([history], evidence.limits, options, hasRefusals);
    return found.kind === "breach" ? found : (findFirstMinuteBreach(use, time) ?? found);
  };
  let judged: HistoryJudgement | null = null;
  const judgement = (): HistoryJudgement => (judged ??= computeJudgement());
  return {
    ...use,
    key,
    isFresh: history.priorUse === "nothing",
    options,
    judgement,
    shapes: () => {
      const found = judgement();
      return found.kind === "breach" ? null : possibleShapes(found.readings);
    },
  };
}

/**
 * All requests before the load use the main key. Older evidence lacks `sentBefore`: its `ledger` shows one request to
 * read usage, and its `deliveries` one to register a webhook.
 */
const sentBeforeLoad = (key: KeyRole, { sentBefore, ledger, deliveries }: LoadEvidence): number =>
  key === "main" ? (sentBefore ?? Number(ledger !== null) + Number(deliveries !== null)) : 0;

/** Real ms that a server gets to free a concurrency slot, even if its clock runs fast: a busy machine may need them. */
const minReleaseMs = 50;

function optionsOf(key: KeyRole, sent: readonly SampledRequest[], evidence: LoadEvidence): AdmissionOptions {
  return {
    toleranceMs,
    // The embedded server gets 0 ms, because it frees a slot before it reads the next request.
    slotReleaseMs: evidence.server === null ? Math.max(minReleaseMs, slotReleaseMs / evidence.speed) : 0,
    tokensMayBeExhausted: tokensMayBeExhausted(key, sent, evidence),
  };
}

/** Tokens to assume for a response that reports none. Scenarios send short queries, which use fewer. */
const assumedTokens = 500;

function tokensMayBeExhausted(key: KeyRole, sent: readonly SampledRequest[], evidence: LoadEvidence): boolean {
  const { isFresh, limits } = evidence;
  const admitted = sent.filter((each) => isAgentCall(each) && isAdmitted(each));
  const tokens = admitted.reduce((sum, each) => sum + (each.tokens ?? assumedTokens), 0);
  if (showsTokensSpent(key, evidence)) {
    if (sent.length === 0) return true;
  } else if (isFresh && tokens < (limits.tokensPerMonth ?? Infinity)) return false;
  return noAdmissionAfterLastRefusal(sent, admitted);
}

/** Whether the main key's usage report shows no tokens left, on a tier with an unknown monthly quota. */
const showsTokensSpent = (key: KeyRole, { limits, ledger }: LoadEvidence): boolean =>
  key === "main" && limits.tokensPerMonth === null && (usageCountIn(ledger?.after, "tokens")?.remaining ?? 1) <= 0;

/** Whether used-up tokens may explain refusals if the monthly quota is unknown. `judgement` checks a known quota. */
export const mayHaveSpentTokens = ({ key, samples }: KeyFacts, { limits, evidence }: LoadFacts): boolean =>
  showsTokensSpent(key, evidence) || samples.some((each) => tokensMayExplain(each, limits));

export function describeRequest(
  sample: SampledRequest,
  { sent, evidence }: Pick<LoadFacts, "sent" | "evidence">,
): string {
  const firstMs = sent[0]?.sentMs ?? 0;
  const at = (ms: number): string => (((ms - firstMs) * evidence.speed) / 1000).toFixed(3);
  const rate =
    sample.limit === null
      ? "no headers"
      : `${sample.remaining} of ${sample.limit} left, reset ${sample.reset} in ${sample.resetAfter} s`;
  const retry = sample.retryAfterSeconds === null ? "" : `, retry_after ${sample.retryAfterSeconds}`;
  return `${sample.id} ${at(sample.sentMs)} to ${at(sample.headMs)} s: ${sample.status ?? "no answer"}${sample.left ? " (left)" : ""}, ${rate}${retry}`;
}

export const describeRequests = (ids: readonly string[], facts: LoadFacts): string[] => {
  const wanted = new Set(ids);
  const lines = facts.sent.filter(({ id }) => wanted.has(id)).map((sample) => describeRequest(sample, facts));
  return lines.length > 0 ? lines : [`${ids.length} requests of the summary`];
};

export const elapsedSeconds = (
  from: SampledRequest,
  to: SampledRequest,
  { time }: Pick<LoadFacts, "time">,
): Elapsed => ({
  min: (time.at(to.sentMs).fromMs - time.at(from.headMs).toMs) / 1000,
  max: (time.at(to.headMs).toMs - time.at(from.sentMs).fromMs) / 1000,
});
