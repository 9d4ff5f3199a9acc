import { hourMs, minuteMs } from "../../base/duration.ts";
import { countBelow } from "../../base/lists.ts";
import type { LoadEvidence, SecondCounts } from "../../evidence/load-evidence.ts";
import { announcedEnd, type ReportedWindowState } from "../../rules/limits/admission/fixed-windows.ts";
import {
  type AnnouncedEnds,
  type Decision,
  decisionOf,
  decisionOfResponse,
  type DecisionOutcome,
  type History,
  decisionOutcomeOf,
  type Span,
} from "../../rules/limits/admission/history.ts";
import { tokensMayExplain } from "../../rules/limits/month-tokens.ts";
import { maxRoundingSeconds } from "../../rules/limits/key-history.ts";
import { isAdmitted, isAgentCall, isRefused } from "../../rules/limits/sample.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { KeyRole } from "../scenarios.ts";
import { clockErrorMs, type SampledRequest } from "./sampled-requests.ts";
import type { TargetTime } from "./target-time.ts";
import { hasAllSegments } from "./validity.ts";

/** Assumed minimum execution time of a slow agent, in ms of the target's clock. Slow agents should take 1 s or more. */
const minSlowAgentMs = 900;
/** Assumed maximum network delay of a response, in ms of the target's clock. */
const maxDelayMs = 500;
/** Network delay to allow for in real ms, even if the target's clock runs fast. A busy machine can cause this delay. */
const minDelayAllowanceMs = 100;
/** Assumed maximum time until the server notices that the client has disconnected, in ms of the target's clock. */
const maxNoticeMs = 4000;

export function historyOf(
  key: KeyRole,
  sent: readonly SampledRequest[],
  evidence: LoadEvidence,
  time: TargetTime,
): History {
  const priorUse = !hasAllSegments(evidence.segments) ? "anything" : evidence.isFresh ? "nothing" : "counted";
  if (evidence.requests.length === 0) {
    const slots = evidence.summary.filter((slot) => slot.key === key);
    return { priorUse, decisions: slots.flatMap((slot) => decisionsIn(slot, evidence, time)) };
  }
  const waits = announcedWaits(sent, evidence.limits, time);
  const reportedWait = (each: SampledRequest): Pick<Decision, "reportedWaitMs"> => {
    const reportedWaitMs = waits.get(each.id);
    return reportedWaitMs === undefined ? {} : { reportedWaitMs };
  };
  return {
    priorUse,
    announced: announcedWindowEnds(sent, evidence, time),
    decisions: sent.map((each) => ({ ...decisionFor(each, evidence, time), ...reportedWait(each) })),
  };
}

function decidedIn(fromMs: number, toMs: number, time: TargetTime): Span {
  return { fromMs: time.at(fromMs).fromMs, toMs: time.at(toMs).toMs };
}

function decisionFor(sample: SampledRequest, evidence: LoadEvidence, time: TargetTime): Decision {
  const { kind, agent } = sample.plannedFlow.operation;
  const { speed } = evidence;
  const noticeMs = sample.left ? maxNoticeMs / speed : 0;
  if (sample.status === null && sample.left) {
    // The server can admit or refuse the request until it notices that the client has disconnected.
    const lastMs = sample.endMs + noticeMs;
    const known = decisionOf({ ...sample, answeredMs: lastMs, endedMs: lastMs, outcome: "unknown" });
    return { ...known, decided: decidedIn(sample.sentMs, lastMs, time) };
  }
  const outcome: DecisionOutcome = tokensMayExplain(sample, evidence.limits)
    ? "failed"
    : isAgentCall(sample)
      ? decisionOutcomeOf(sample)
      : outcomeOfNonAgentCall(sample);
  const decided = decidedIn(sample.sentMs, sample.headMs, time);
  const decision = decisionOfResponse(sample, decided, outcome);
  if (outcome !== "admitted") return { ...decision, mayHoldUntilMs: decision.mayHoldUntilMs + noticeMs };
  const minOccupiedMs =
    kind === "invoke" && agent === "slow" && !sample.left
      ? Math.max(0, minSlowAgentMs - (evidence.clockLagMs ?? 0)) / speed
      : 0;
  const maxTransitMs = Math.max(minDelayAllowanceMs, maxDelayMs / speed) + 2 * (evidence.clocksApartMs ?? 0);
  const endedMs = Math.max(sample.headMs, sample.endMs);
  const isHeld = kind === "stream" || minOccupiedMs > 0;
  const observed = { ...sample, answeredMs: sample.headMs, endedMs, outcome, minOccupiedMs };
  const { held } = decisionOf(isHeld ? { ...observed, maxTransitMs } : observed);
  return { ...decision, held, mayHoldUntilMs: endedMs + noticeMs };
}

/** Returns the outcome of a health, usage or list request. `failed`: it may count toward a rate limit. */
const outcomeOfNonAgentCall = ({ status }: SampledRequest): DecisionOutcome =>
  status === null ? "unknown" : status === 429 ? "refused" : "failed";

function decisionsIn(slot: SecondCounts, evidence: LoadEvidence, time: TargetTime): Decision[] {
  const flow = evidence.flows.find(({ name }) => name === slot.flow);
  const isLimited = flow?.operation.kind === "invoke" || flow?.operation.kind === "stream";
  const counts: readonly (readonly [DecisionOutcome, number])[] = [
    [isLimited ? "admitted" : "failed", slot.admitted],
    ["refused", slot.refused],
    ["failed", slot.failed],
    ["unknown", slot.unanswered],
  ];
  const [firstSentMs, lastEndMs] = [slot.firstSentMs - clockErrorMs(evidence), slot.lastEndMs + clockErrorMs(evidence)];
  const decided = decidedIn(firstSentMs, lastEndMs, time);
  return counts.flatMap(([outcome, count]): Decision[] => {
    if (count === 0) return [];
    const endMs = outcome === "unknown" ? Infinity : lastEndMs;
    const id = `${slot.flow}@${slot.second}/${outcome}`;
    const known = decisionOf({ id, sentMs: firstSentMs, answeredMs: endMs, endedMs: endMs, outcome });
    const toMs = outcome === "unknown" ? Infinity : decided.toMs;
    return [{ ...known, count, held: null, decided: { ...decided, toMs } }];
  });
}

function announcedWindowEnds(
  sent: readonly SampledRequest[],
  { limits }: LoadEvidence,
  time: TargetTime,
): AnnouncedEnds {
  if (time.kind !== "steady" || limits.perHour === limits.perMinute) return {};
  const announcementsOf = (limit: number): ReportedWindowState[] =>
    sent.flatMap((each) =>
      // For the limit per minute, uses only admitted requests: the `Reset` of a 429 can be that of a token bucket.
      isAgentCall(each) &&
      (isAdmitted(each) || limit === limits.perHour) &&
      each.limit === limit &&
      each.remaining !== null &&
      each.reset !== null &&
      each.resetAfter !== null
        ? [{ remaining: each.remaining, resetMs: each.reset * 1000, resetAfterSeconds: each.resetAfter }]
        : [],
    );
  const minute = announcedEnd(announcementsOf(limits.perMinute), minuteMs, time.unknownMs);
  const hour = announcedEnd(announcementsOf(limits.perHour), hourMs, time.unknownMs);
  return { ...(minute === null ? {} : { minute }), ...(hour === null ? {} : { hour }) };
}

/** A 429 with a `retry_after` below this many seconds may come from the concurrency limit instead of a rate limit. */
const minRateWaitSeconds = 4;

/**
 * Maps the id of a refusal to the wait that it announces until a new rate-limit window, in ms. Leaves out a wait if it
 * may be for a concurrency slot, or if other responses contradict it, e.g. a 200 during the wait.
 */
function announcedWaits(
  sent: readonly SampledRequest[],
  limits: TierLimits,
  time: TargetTime,
): ReadonlyMap<string, number> {
  const waits = new Map<string, number>();
  const lowest = lowestRemaining(sent);
  const admitted = sent.filter((each) => isAgentCall(each) && isAdmitted(each));
  const sentMs = Float64Array.from(admitted, (each) => each.sentMs).toSorted();
  for (const refusal of sent) {
    const seconds = announcedSeconds(refusal, limits);
    if (seconds === null || !(lowestAround(lowest, refusal) <= limits.concurrent)) continue;
    const nextMs = sentMs[countBelow(sentMs, refusal.headMs)];
    const isKept =
      nextMs === undefined ||
      time.at(nextMs).fromMs - time.at(refusal.headMs).toMs >= (seconds - maxRoundingSeconds) * 1000;
    if (isKept) waits.set(refusal.id, seconds * 1000);
  }
  return waits;
}

function announcedSeconds(refusal: SampledRequest, { perMinute, perHour, concurrent }: TierLimits): number | null {
  const { limit, remaining, resetAfter, retryAfterSeconds } = refusal;
  if (!isRefused(refusal) || remaining !== 0 || resetAfter === null || retryAfterSeconds === null) return null;
  if ((limit !== perMinute && limit !== perHour) || limit === concurrent) return null;
  const isOfWindow = Math.abs(retryAfterSeconds - resetAfter) <= maxRoundingSeconds;
  return isOfWindow && retryAfterSeconds >= minRateWaitSeconds ? retryAfterSeconds : null;
}

const nameOf = (limit: number | null, reset: number): string => `${limit} ${Math.floor(reset)}`;

function lowestRemaining(sent: readonly SampledRequest[]): ReadonlyMap<string, number> {
  const lowest = new Map<string, number>();
  for (const each of sent) {
    const { limit, remaining, reset } = each;
    if (!isAgentCall(each) || !isAdmitted(each) || remaining === null || reset === null) continue;
    const name = nameOf(limit, reset);
    lowest.set(name, Math.min(lowest.get(name) ?? Infinity, remaining));
  }
  return lowest;
}

const lowestAround = (lowest: ReadonlyMap<string, number>, { limit, reset }: SampledRequest): number =>
  Math.min(...[-1, 0, 1].map((apart) => lowest.get(nameOf(limit, (reset ?? 0) + apart)) ?? Infinity));
