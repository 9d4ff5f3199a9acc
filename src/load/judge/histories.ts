import type { KeyRole } from "../scenarios.ts";
import { announcedEnd, type Announcement } from "../../rules/limits/admission/announced.ts";
import {
  decisionOfResponse,
  outcomeOf,
  type AnnouncedEnds,
  type Decision,
  type DecisionOutcome,
  decisionOf,
  type History,
  type Span,
} from "../../rules/limits/admission/history.ts";
import { hourMs, minuteMs } from "../../base/duration.ts";
import type { LoadEvidence, SecondCounts } from "../../evidence/load-evidence.ts";
import { isAdmitted, isAgentCall } from "../../rules/limits/sample.ts";
import { clockErrorMs, type SampledRequest } from "./sampled-requests.ts";
import { announcedWaits } from "./announced-waits.ts";
import type { TargetTime } from "./target-time.ts";
import { hasAllSegments } from "./validity.ts";

/** A slow agent thinks for at least this long, by its role; in target ms. */
const slowAtLeastMs = 900;
/** A byte is underway for no longer, in target ms; and in ours, for a machine that is busy. */
const transitMs = 500;
const leastTransitMs = 100;
/** So long after a client has left may its request go on: a few seconds after the next write. In target ms. */
const noticedMs = 4000;

/** What happened on a key, for the judge of admissions. */
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
  const said = (each: SampledRequest): Pick<Decision, "reportedWaitMs"> => {
    const reportedWaitMs = waits.get(each.id);
    return reportedWaitMs === undefined ? {} : { reportedWaitMs };
  };
  return {
    priorUse,
    announced: announcedBy(sent, evidence, time),
    decisions: sent.map((each) => ({ ...decisionFor(each, evidence, time), ...said(each) })),
  };
}

function decidedIn(fromMs: number, toMs: number, time: TargetTime): Span {
  return { fromMs: time.at(fromMs).fromMs, toMs: time.at(toMs).toMs };
}

function decisionFor(sample: SampledRequest, evidence: LoadEvidence, time: TargetTime): Decision {
  const { kind, agent } = sample.plannedFlow.operation;
  const { speed } = evidence;
  const goesOnMs = sample.left ? noticedMs / speed : 0;
  const lastMs = sample.left ? sample.endMs + goesOnMs : sample.headMs;
  const outcome: DecisionOutcome = isAgentCall(sample) ? outcomeOf(sample) : countsPerhaps(sample);
  const decided = decidedIn(sample.sentMs, sample.status === null ? lastMs : sample.headMs, time);
  if (sample.status === null && sample.left) {
    // Who leaves before the head has come was connected long before: the server has the request by then, or never.
    const known = decisionOf({ ...sample, answeredMs: lastMs, endedMs: lastMs, outcome: "unknown" });
    return { ...known, decided };
  }
  const decision = decisionOfResponse(sample, decided, outcome);
  if (outcome !== "admitted") return { ...decision, mayHoldUntilMs: decision.mayHoldUntilMs + goesOnMs };
  const minOccupiedMs = kind === "invoke" && agent === "slow" && !sample.left ? slowAtLeastMs / speed : 0;
  // The end is as late as it may have been, and a slot was held to the earliest.
  const maxTransitMs = Math.max(leastTransitMs, transitMs / speed) + 2 * (evidence.clocksApartMs ?? 0);
  const endedMs = Math.max(sample.headMs, sample.endMs);
  const isHeld = kind === "stream" || minOccupiedMs > 0;
  const seen = { ...sample, answeredMs: sample.headMs, endedMs, outcome, minOccupiedMs };
  const { held } = decisionOf(isHeld ? { ...seen, maxTransitMs } : seen);
  return { ...decision, held, mayHoldUntilMs: endedMs + goesOnMs };
}

/** Whether reading usage or listing uses up the allowance is open. */
const countsPerhaps = ({ status }: SampledRequest): DecisionOutcome =>
  status === null ? "unknown" : status === 429 ? "refused" : "failed";

/** All requests of a second are known to be decided between the first sending and the last end among them. */
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

function announcedBy(sent: readonly SampledRequest[], { limits }: LoadEvidence, time: TargetTime): AnnouncedEnds {
  if (time.kind !== "steady" || limits.perHour === limits.perMinute) return {};
  const told = (limit: number): Announcement[] =>
    sent.flatMap((each) =>
      // A refusal may speak of a bucket beside the minute's windows, which may call itself the same.
      isAgentCall(each) &&
      (isAdmitted(each) || limit === limits.perHour) &&
      each.limit === limit &&
      each.remaining !== null &&
      each.reset !== null &&
      each.resetAfter !== null
        ? [{ remaining: each.remaining, resetMs: each.reset * 1000, resetAfterSeconds: each.resetAfter }]
        : [],
    );
  const minute = announcedEnd(told(limits.perMinute), minuteMs, time.unknownMs);
  const hour = announcedEnd(told(limits.perHour), hourMs, time.unknownMs);
  return { ...(minute === null ? {} : { minute }), ...(hour === null ? {} : { hour }) };
}
