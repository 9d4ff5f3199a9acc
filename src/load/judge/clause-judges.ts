import { headerRules } from "../../rules/limits/header-rules.ts";
import { streamRules } from "../../rules/streams/streams.ts";
import type { RequirementSet } from "../../spec/clause.ts";
import { bodyJudges } from "./responses.ts";
import type { LoadFacts } from "./facts.ts";
import type { JudgeResult } from "./finding.ts";
import { hasRequestEndingWith } from "./breach-clause.ts";
import * as admission from "./admission.ts";
import * as deliveries from "./deliveries.ts";
import * as headers from "./headers.ts";
import * as isolation from "./isolation.ts";
import * as refusals from "./refusals.ts";
import * as remaining from "./remaining.ts";
import * as slots from "./slots.ts";
import * as soak from "./soak.ts";
import * as streams from "./streams.ts";
import * as usageReport from "./usage-report.ts";

/**
 * The evidence that a judge needs, besides a valid run (see `Validity`).
 * - `counts`: the clause passes only if all planned requests were sent, and at least 99 % got a response.
 * - `pace`: the clause is judged only if `counts` is met, and the load generator was neither busy nor late.
 * - `each`: nothing more, because single responses are enough evidence.
 */
type EvidenceBasis = "counts" | "pace" | "each";

export interface ClaimJudge {
  /** Suffix of the check's name, e.g. `completion`, if a clause has several judges. */
  readonly as?: string;
  /** The requirement set that introduced this judge, if the judge is newer than its clause and scenario. */
  readonly since?: RequirementSet;
  readonly restsOn: EvidenceBasis;
  readonly judge: (facts: LoadFacts) => JudgeResult;
  readonly applies?: (facts: LoadFacts) => boolean;
}

const counts = (judge: ClaimJudge["judge"]): ClaimJudge => ({ restsOn: "counts", judge });
const each = (judge: ClaimJudge["judge"]): ClaimJudge => ({ restsOn: "each", judge });

export const clauseJudges: Readonly<Record<string, readonly ClaimJudge[]>> = {
  "LIM-1": [counts(admission.judgeMaxPerMinute)],
  "LIM-2": [counts(admission.judgeMinPerMinute)],
  "LIM-3": [counts(admission.judgeMaxPerHour)],
  "LIM-4": [counts(admission.judgeMinPerHour)],
  "LIM-5": [counts(slots.judgeMaxConcurrent)],
  "LIM-6": [counts(slots.judgeMinConcurrent)],
  "LIM-7": [counts(admission.judgeBurst)],
  "LIM-8": [counts(admission.observeBurst)],
  "LIM-9": [counts(isolation.judgeKeyIsolation)],
  "LIM-10": [counts(admission.judgeInvokeIsLimited)],
  "LIM-11": [counts(remaining.judgeStreamCounts)],
  "LIM-12": [each(refusals.judgeOnlyRefusals)],
  "LIM-13": [counts(refusals.judgeAdmittedAfter)],
  "LIM-14": [counts(refusals.judgeRefusedBefore)],
  "LIM-15": [counts(admission.observeShapes)],
  "LIM-16": [counts(admission.observeRefusals)],
  "LIM-17": [
    { ...counts(slots.judgeSlotsAfterCompletion), as: "completion" },
    {
      ...counts(slots.judgeSlotsAfterFailure),
      as: "failure",
      applies: (facts) => hasRequestEndingWith(facts, "failed"),
    },
    {
      ...counts(slots.judgeSlotsAfterLeftInvokes),
      as: "leaving",
      applies: (facts) => hasRequestEndingWith(facts, "left invoke"),
    },
  ],
  "LIM-18": [counts(slots.judgeStreamsHoldSlots)],
  ...Object.fromEntries(Object.entries(headers.headerPresenceJudges).map(([clause, judge]) => [clause, [each(judge)]])),
  ...Object.fromEntries(headerRules.map((rule) => [rule.clause, [each(headers.createHeaderRuleJudge(rule))]])),
  ...Object.fromEntries(bodyJudges.map(([clause, judge]) => [clause, [each(judge)]])),
  "HDR-12": [counts(remaining.judgeRemainingFalls)],
  "HDR-14": [each(headers.judgeReset)],
  "HDR-15": [each(headers.judgeResetAfterDecreases)],
  "HDR-17": [each(headers.judgeRefusedRemaining)],
  "HDR-19": [each(remaining.judgeAdmittedAfterZero)],
  "HLT-15": [each(isolation.judgeHealthWhileExhausted)],
  "HLT-16": [counts(isolation.judgeHealthIsFree)],
  "SSE-1": [each(streams.judgeStreamStatus)],
  ...Object.fromEntries(streamRules.map((rule) => [rule.clause, [each(streams.createStreamRuleJudge(rule))]])),
  "SSE-11": [each(streams.judgeIndexes)],
  "SSE-13": [each(streams.judgeDoneTokens)],
  "SSE-27": [counts(slots.judgeSlotsAfterLeftStreams)],
  "USE-1": [each(usageReport.judgeUsageReport)],
  "USE-3": [each(usageReport.judgeRequestCounts)],
  "USE-4": [each(usageReport.judgeTokenCounts)],
  "USE-7": [counts(usageReport.judgeRequestsUsed)],
  "USE-8": [counts(usageReport.judgeTokensUsed)],
  "HOOK-8": [counts(deliveries.judgeDeliveries)],
  "HOOK-17": [each(deliveries.judgeRequestIds)],
  "HOOK-21": [each(deliveries.judgeDeliverySignatures)],
};

/** Clauses about single responses. Every load reports breaches of them, even if its scenario does not test them. */
export const perResponseClauses: readonly string[] = [
  ...Object.keys(headers.headerPresenceJudges),
  "HDR-14",
  ...headerRules.map(({ clause }) => clause),
  ...bodyJudges.map(([clause]) => clause),
];

/** Clauses about behaviour that the document leaves open. Every load reports what its responses show about them. */
export const alwaysObservedClauses = ["LIM-8", "LIM-15", "LIM-16"] as const;

/** Judges of requirements that are not in the interface document. `scenarios`: names of scenarios that use them. */
export const undocumentedRequirementJudges: Readonly<
  Record<string, ClaimJudge & { readonly scenarios: readonly string[] | "all" }>
> = {
  "slow-refusals": {
    restsOn: "pace",
    judge: refusals.judgeSlowRefusals,
    scenarios: "all",
    applies: ({ evidence }) => evidence.latency.refused.count > 0,
  },
  "neighbour-latency": { restsOn: "pace", judge: isolation.judgeNeighbourLatency, scenarios: ["noisy-neighbour"] },
  "memory-drift": { restsOn: "counts", judge: soak.judgeMemory, scenarios: ["soak"] },
  "latency-drift": { restsOn: "pace", judge: soak.judgeLatencyDrift, scenarios: ["soak"] },
  "stream-times": {
    restsOn: "each",
    judge: streams.observeStreamTimes,
    scenarios: "all",
    applies: ({ evidence }) => evidence.streams.length > 0,
  },
};
