import type { KeyRole, Scenario } from "../scenarios.ts";
import { type HistoryJudgement, type PossibleShapes, possibleShapes } from "../../rules/limits/admission/judge.ts";
import { judgeByClocks, endsRefused, slotReleaseMs, toleranceMs } from "../../rules/limits/key-history.ts";
import type { History, AdmissionOptions } from "../../rules/limits/admission/history.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import { historyOf } from "./histories.ts";
import { overFirstMinute } from "./first-minute.ts";
import { isAdmitted, isAgentCall } from "../../rules/limits/sample.ts";
import { type SampledRequest, sampledRequests } from "./sampled-requests.ts";
import { targetTime, type TargetTime } from "./target-time.ts";
import { type Validity, validityOf } from "./validity.ts";

/** All that was sent on one key. */
export interface KeyFacts {
  readonly key: KeyRole;
  readonly sent: readonly SampledRequest[];
  readonly history: History;
  readonly options: AdmissionOptions;
  /** Against every admissible limiter; made when first asked for. */
  judgement(): HistoryJudgement;
  /** What the history leaves possible; `null` for a breach. */
  shapes(): PossibleShapes | null;
}

/** Load evidence, made ready for questions. */
export interface LoadFacts {
  readonly evidence: LoadEvidence;
  readonly scenario: Scenario;
  readonly limits: TierLimits;
  readonly validity: Validity;
  readonly time: TargetTime;
  /** In order of sending; empty for long runs, of which there is only a summary. */
  readonly sent: readonly SampledRequest[];
  readonly main: KeyFacts;
  /** `null`: nothing was sent with a second key. */
  readonly second: KeyFacts | null;
}

/** Of a long run there are exact counts by second, and no requests. */
export const hasCountsOnly = ({ evidence }: Pick<LoadFacts, "evidence">): boolean =>
  evidence.requests.length === 0 && evidence.summary.length > 0;

export function factsOf(evidence: LoadEvidence, scenario: Scenario): LoadFacts {
  const sent = sampledRequests(evidence);
  const time = targetTime(sent, evidence.speed);
  const use = (key: KeyRole): KeyFacts =>
    useOf(
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
    validity: validityOf(evidence),
    time,
    sent,
    main: use("main"),
    second: hasSecond ? use("second") : null,
  };
}

function useOf(key: KeyRole, sent: readonly SampledRequest[], evidence: LoadEvidence, time: TargetTime): KeyFacts {
  const history = historyOf(key, sent, evidence, time);
  const options = optionsOf(sent, evidence);
  const judgedAnew = (): HistoryJudgement => {
    // Where something was refused, someone asks which shapes are possible: one pass tells both.
    const everyReading = history.decisions.some(({ outcome }) => outcome === "refused");
    const found = judgeByClocks([history], evidence.limits, options, everyReading);
    return found.kind === "breach" ? found : (overFirstMinute(sent, history, evidence.limits, time) ?? found);
  };
  let judged: HistoryJudgement | null = null;
  const judgement = (): HistoryJudgement => (judged ??= judgedAnew());
  return {
    key,
    sent,
    history,
    options,
    judgement,
    shapes: () => {
      const found = judgement();
      return found.kind === "breach" ? null : possibleShapes(found.readings);
    },
  };
}

/** For a machine that is busy: at least so late in our own time. */
const leastReleaseMs = 50;

function optionsOf(sent: readonly SampledRequest[], evidence: LoadEvidence): AdmissionOptions {
  return {
    toleranceMs,
    // The embedded server gives a slot back before it can hear of the client's next request.
    slotReleaseMs: evidence.server === null ? Math.max(leastReleaseMs, slotReleaseMs / evidence.speed) : 0,
    tokensMayBeExhausted: tokensMayBeExhausted(sent, evidence),
  };
}

/** A short question costs no more where the answer does not say. */
const mostTokens = 500;

/** A month's tokens do not come back within a run: where a request was admitted after the last refusal, they were not used up. */
function tokensMayBeExhausted(sent: readonly SampledRequest[], { isFresh, limits }: LoadEvidence): boolean {
  const admitted = sent.filter((each) => isAgentCall(each) && isAdmitted(each));
  const tokens = admitted.reduce((sum, each) => sum + (each.tokens ?? mostTokens), 0);
  if (isFresh && tokens < (limits.tokensPerMonth ?? Infinity)) return false;
  return endsRefused(sent, admitted);
}

/** A request in one line, its time in seconds of the target after the first. */
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
