import { headerRules } from "../../rules/limits/header-rules.ts";
import { streamRules } from "../../rules/streams/rules.ts";
import {
  judgeBurst,
  judgeIsLimited,
  judgeMinPerHour,
  judgeMinPerMinute,
  judgeMaxPerHour,
  judgeMaxPerMinute,
  observeBurst,
  observeRefusals,
  observeShapes,
} from "./admission.ts";
import { bodyJudges } from "./responses.ts";
import { judgeDeliveries, judgeRequestIds, judgeSignatures } from "./deliveries.ts";
import { judgeRemainingFalls, judgeStreamCounts } from "./remaining.ts";
import type { LoadFacts } from "./facts.ts";
import type { JudgeResult } from "./finding.ts";
import {
  judgeByRule,
  judgeFailureHeaders,
  judgeHealthHeaders,
  judgeRefusalHeaders,
  judgeRefusedRemaining,
  judgeReset,
  judgeResetAfterFalls,
  judgeStreamHeaders,
  judgeSuccessHeaders,
} from "./headers.ts";
import { judgeHealthIsFree, judgeHealthWhileExhausted } from "./health.ts";
import { hasEnding } from "./breach-clause.ts";
import {
  judgeUsageReport,
  judgeRequestCounts,
  judgeRequestsUsed,
  judgeTokenCounts,
  judgeTokensUsed,
} from "./usage-report.ts";
import { judgeKeyIsolation, judgeNeighbourLatency } from "./key-isolation.ts";
import { judgeAdmittedAfter, judgeOnlyRefusals, judgeRefusedBefore, judgeSlowRefusals } from "./refusals.ts";
import { judgeAdmittedAfterZero } from "./remaining.ts";
import {
  judgeCompletedReleaseSlots,
  judgeFailedReleaseSlots,
  judgeMinConcurrent,
  judgeDisconnectedInvokesReleaseSlots,
  judgeDisconnectedStreamsReleaseSlots,
  judgeMaxConcurrent,
  judgeStreamsHoldSlots,
} from "./slots.ts";
import { judgeLatencyDrift, judgeMemory } from "./soak.ts";
import { judgeDoneTokens, judgeIndexes, judgeEventOrder, judgeStreamStatus, observeStreamTimes } from "./streams.ts";

/**
 * Requirements of a judge on the run. `counts`: every planned request was sent and answered. `pace`: the generator also kept up. `each`: nothing,
 * since it judges single responses.
 */
type EvidenceBasis = "counts" | "pace" | "each";

export interface ClaimJudge {
  /** Distinguishes several judges of one clause. */
  readonly as?: string;
  readonly restsOn: EvidenceBasis;
  readonly judge: (facts: LoadFacts) => JudgeResult;
  /** If it returns false, there is no finding. */
  readonly applies?: (facts: LoadFacts) => boolean;
}

const counts = (judge: ClaimJudge["judge"]): ClaimJudge => ({ restsOn: "counts", judge });
const each = (judge: ClaimJudge["judge"]): ClaimJudge => ({ restsOn: "each", judge });

export const clauseJudges: Readonly<Record<string, readonly ClaimJudge[]>> = {
  "LIM-1": [counts(judgeMaxPerMinute)],
  "LIM-2": [counts(judgeMinPerMinute)],
  "LIM-3": [counts(judgeMaxPerHour)],
  "LIM-4": [counts(judgeMinPerHour)],
  "LIM-5": [counts(judgeMaxConcurrent)],
  "LIM-6": [counts(judgeMinConcurrent)],
  "LIM-7": [counts(judgeBurst)],
  "LIM-8": [counts(observeBurst)],
  "LIM-9": [counts(judgeKeyIsolation)],
  "LIM-10": [counts(judgeIsLimited)],
  "LIM-11": [counts(judgeStreamCounts)],
  "LIM-12": [each(judgeOnlyRefusals)],
  "LIM-13": [counts(judgeAdmittedAfter)],
  "LIM-14": [counts(judgeRefusedBefore)],
  "LIM-15": [counts(observeShapes)],
  "LIM-16": [counts(observeRefusals)],
  "LIM-17": [
    { ...counts(judgeCompletedReleaseSlots), as: "completion" },
    { ...counts(judgeFailedReleaseSlots), as: "failure", applies: (facts) => hasEnding(facts, "failed") },
    {
      ...counts(judgeDisconnectedInvokesReleaseSlots),
      as: "leaving",
      applies: (facts) => hasEnding(facts, "left invoke"),
    },
  ],
  "LIM-18": [counts(judgeStreamsHoldSlots)],
  "HDR-1": [each(judgeSuccessHeaders)],
  "HDR-4": [each(judgeRefusalHeaders)],
  "HDR-5": [each(judgeFailureHeaders)],
  "HDR-6": [each(judgeStreamHeaders)],
  "HDR-7": [each(judgeHealthHeaders)],
  ...Object.fromEntries(headerRules.map((rule) => [rule.clause, [each(judgeByRule(rule))]])),
  ...Object.fromEntries(bodyJudges.map(([clause, judge]) => [clause, [each(judge)]])),
  "HDR-12": [counts(judgeRemainingFalls)],
  "HDR-14": [each(judgeReset)],
  "HDR-15": [each(judgeResetAfterFalls)],
  "HDR-17": [each(judgeRefusedRemaining)],
  "HDR-19": [each(judgeAdmittedAfterZero)],
  "HLT-15": [each(judgeHealthWhileExhausted)],
  "HLT-16": [counts(judgeHealthIsFree)],
  "SSE-1": [each(judgeStreamStatus)],
  ...Object.fromEntries(streamRules.map((rule) => [rule.clause, [each(judgeEventOrder(rule))]])),
  "SSE-11": [each(judgeIndexes)],
  "SSE-13": [each(judgeDoneTokens)],
  "SSE-27": [counts(judgeDisconnectedStreamsReleaseSlots)],
  "USE-1": [each(judgeUsageReport)],
  "USE-3": [each(judgeRequestCounts)],
  "USE-4": [each(judgeTokenCounts)],
  "USE-7": [counts(judgeRequestsUsed)],
  "USE-8": [counts(judgeTokensUsed)],
  "HOOK-8": [counts(judgeDeliveries)],
  "HOOK-17": [each(judgeRequestIds)],
  "HOOK-21": [each(judgeSignatures)],
};

/** Clauses about single responses, which every scenario is judged by. */
export const perResponseClauses: readonly string[] = [
  "HDR-1",
  "HDR-4",
  "HDR-5",
  "HDR-6",
  "HDR-7",
  "HDR-14",
  ...headerRules.map(({ clause }) => clause),
  ...bodyJudges.map(([clause]) => clause),
];

/** Gaps that every history of admissions is observed for. */
export const observedAlways = ["LIM-8", "LIM-15", "LIM-16"] as const;

/** Judges of requirements that are not in the document, with the scenarios that test them. */
export const loadOnlyJudges: Readonly<Record<string, ClaimJudge & { readonly scenarios: readonly string[] | "all" }>> =
  {
    "slow-refusals": {
      restsOn: "pace",
      judge: judgeSlowRefusals,
      scenarios: "all",
      applies: ({ evidence }) => evidence.latency.refused.count > 0,
    },
    "neighbour-latency": { restsOn: "pace", judge: judgeNeighbourLatency, scenarios: ["noisy-neighbour"] },
    "memory-drift": { restsOn: "counts", judge: judgeMemory, scenarios: ["soak"] },
    "latency-drift": { restsOn: "pace", judge: judgeLatencyDrift, scenarios: ["soak"] },
    "stream-times": {
      restsOn: "each",
      judge: observeStreamTimes,
      scenarios: "all",
      applies: ({ evidence }) => evidence.streams.length > 0,
    },
  };
