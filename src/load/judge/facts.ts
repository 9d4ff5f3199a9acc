import type { KeyRole, Scenario } from "../scenarios.ts";
import { type HistoryJudgement, type PossibleShapes, possibleShapes } from "../../rules/limits/admission/judge.ts";
import {
  judgeByClocks,
  noAdmissionAfterLastRefusal,
  slotReleaseMs,
  toleranceMs,
  type KeyHistory,
} from "../../rules/limits/key-history.ts";
import type { History, AdmissionOptions } from "../../rules/limits/admission/history.ts";
import type { Elapsed } from "../../rules/limits/exhausted-window.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import { evidenceBefore, targetLossIn } from "./target-loss.ts";
import { historyOf } from "./histories.ts";
import { findFirstMinuteBreach } from "./first-minute.ts";
import { isAdmitted, isAgentCall } from "../../rules/limits/sample.ts";
import { type SampledRequest, sampledRequests } from "./sampled-requests.ts";
import { targetTime, type TargetTime, withClockLag } from "./target-time.ts";
import { type Validity, validityOf } from "./validity.ts";

export interface KeyFacts extends KeyHistory<SampledRequest> {
  readonly key: KeyRole;
  readonly history: History;
  readonly options: AdmissionOptions;
  /** Judges whether any legal rate limiter explains the key's history. Computed at the first call only. */
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
  const options = optionsOf(samples, evidence);
  const computeJudgement = (): HistoryJudgement => {
    // After a refusal, also tries limiters that count refused requests. LIM-16 observes which kind of limiter fits.
    const everyReading = history.decisions.some(({ outcome }) => outcome === "refused");
    const found = judgeByClocks([history], evidence.limits, options, everyReading);
    return found.kind === "breach" ? found : (findFirstMinuteBreach(samples, history, evidence.limits, time) ?? found);
  };
  let judged: HistoryJudgement | null = null;
  const judgement = (): HistoryJudgement => (judged ??= computeJudgement());
  return {
    key,
    samples,
    limits: evidence.limits,
    isFresh: history.priorUse === "nothing",
    history,
    options,
    judgement,
    shapes: () => {
      const found = judgement();
      return found.kind === "breach" ? null : possibleShapes(found.readings);
    },
  };
}

/** The server gets at least this long to free a slot, in real ms. A busy machine can need the time. */
const minReleaseMs = 50;

function optionsOf(sent: readonly SampledRequest[], evidence: LoadEvidence): AdmissionOptions {
  return {
    toleranceMs,
    // The embedded server needs 0 ms: it frees a slot before it reads the next request.
    slotReleaseMs: evidence.server === null ? Math.max(minReleaseMs, slotReleaseMs / evidence.speed) : 0,
    tokensMayBeExhausted: tokensMayBeExhausted(sent, evidence),
  };
}

/** Tokens to assume for a request whose response reports none. Scenarios send only short queries. */
const maxTokens = 500;

function tokensMayBeExhausted(sent: readonly SampledRequest[], { isFresh, limits }: LoadEvidence): boolean {
  const admitted = sent.filter((each) => isAgentCall(each) && isAdmitted(each));
  const tokens = admitted.reduce((sum, each) => sum + (each.tokens ?? maxTokens), 0);
  if (isFresh && tokens < (limits.tokensPerMonth ?? Infinity)) return false;
  return noAdmissionAfterLastRefusal(sent, admitted);
}

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
