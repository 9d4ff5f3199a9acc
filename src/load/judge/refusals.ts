import { is2xx } from "../../base/http.ts";
import { sumOf } from "../../base/numbers.ts";
import { countBelow, countUpTo, sortedValues } from "../../base/lists.ts";
import { quantile } from "../../base/statistics/samples.ts";
import { formatCount } from "../../base/text.ts";
import { createSlotTest } from "../../rules/limits/admission/slots.ts";
import {
  describeAdmission,
  describeEarlyRefusal,
  formatSeconds,
  isWellBefore,
  maxRoundingSeconds,
  minEarlySeconds,
} from "../../rules/limits/key-history.ts";
import { tokensMayExplain } from "../../rules/limits/month-tokens.ts";
import { isAdmitted, isAgentCall, isRefused } from "../../rules/limits/sample.ts";
import { judgeEachKey } from "./breach-clause.ts";
import {
  describeRequest,
  elapsedSeconds,
  hasCountsOnly,
  type KeyFacts,
  keyFactsIn,
  type LoadFacts,
  mayHaveSpentTokens,
} from "./facts.ts";
import { limitedFlows } from "./validity.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { judgeResponses } from "./responses.ts";
import type { SampledRequest } from "./sampled-requests.ts";

/** Judges LIM-12: beyond a limit, the response is 429 with the error body. */
export function judgeOnlyRefusals(facts: LoadFacts): JudgeResult {
  if (hasCountsOnly(facts)) return judgeBySecondCounts(facts);
  return judgeEachKey(facts, (use) => {
    const agentCalls = use.samples.filter(isAgentCall);
    const first = agentCalls.find(isRefused);
    if (first === undefined) return unproven("nothing was refused");
    const beyond = agentCalls.filter(
      (each) => each.sentMs >= first.sentMs && each.plannedFlow.operation.agent !== "failing",
    );
    const statuses = judgeResponses(
      beyond.filter(({ status }) => status !== null),
      ({ status }) =>
        status === 429 || is2xx(status)
          ? null
          : { expected: "nothing but 200 and 429 beyond the limit", actual: String(status) },
      facts,
      "no request beyond the limit got a response",
    );
    if (statuses.kind !== "holds") return statuses;
    const result = judgeResponses(
      agentCalls.filter(isRefused),
      ({ retryAfterSeconds }) =>
        retryAfterSeconds === null
          ? { expected: "a 429 has the error body with `retry_after`", actual: "no `retry_after`" }
          : null,
      facts,
      "nothing was refused",
    );
    if (result.kind !== "holds") return result;
    const unanswered = beyond.filter(({ status, left }) => status === null && !left).length;
    return unanswered > 0
      ? unproven(`${unanswered} of ${beyond.length} requests beyond the limit got no response`)
      : { ...result, detail: `${formatCount(result.seen?.looked ?? 0, "refusal")}, all with \`retry_after\`` };
  });
}

function judgeBySecondCounts({ evidence }: LoadFacts): JudgeResult {
  const limited = limitedFlows(evidence);
  const slots = evidence.summary.filter(({ flow }) => limited.has(flow));
  const failed = sumOf(slots.map((slot) => slot.failed));
  if (sumOf(slots.map((slot) => slot.refused)) === 0) return unproven("nothing was refused");
  if (failed > 0) return breach("nothing but 200 and 429", `${failed} answers with another status`);
  return unproven("the summary of a long run does not show the bodies of its refusals");
}

interface RefusalStreak {
  readonly refusals: SampledRequest[];
  next: SampledRequest | undefined;
}

function streaksOf({ samples }: KeyFacts, facts: LoadFacts): RefusalStreak[] {
  const inTurn = samples.filter(({ plannedFlow }) => plannedFlow.shape.kind === "after refusal");
  if (inTurn.length !== samples.length) return [];
  const isCertainlyRate = createRateRefusalTest(facts);
  // Assumes that the concurrency limit asks for a wait below `minEarlySeconds`, because a slot is soon free.
  const isRate = (sample: SampledRequest): boolean =>
    isCertainlyRate(sample) || (sample.remaining === 0 && announcedSeconds(sample) >= minEarlySeconds);
  const streaks: RefusalStreak[] = [];
  let open: RefusalStreak | null = null;
  for (const sample of inTurn) {
    if (
      isRefused(sample) &&
      !tokensMayExplain(sample, facts.limits) &&
      isRate(sample) &&
      sample.retryAfterSeconds !== null
    ) {
      if (open === null) streaks.push((open = { refusals: [], next: undefined }));
      open.refusals.push(sample);
    } else if (open !== null) {
      open.next = sample;
      open = null;
    }
  }
  return streaks;
}

const announcedSeconds = ({ retryAfterSeconds }: SampledRequest): number => retryAfterSeconds ?? 0;
/** Maximum difference in speed between the clocks of the target and the client: 1.8 seconds in an hour. */
const maxDrift = 0.0005;

/** Judges LIM-13: a request is admitted once `retry_after` seconds have passed. */
export function judgeAdmittedAfter(facts: LoadFacts): JudgeResult {
  let proven = 0;
  for (const { refusals, next } of streaksOf(facts.main, facts)) {
    for (const [index, later] of refusals.entries()) {
      // Finds a 429 whose `retry_after` had passed before `later`. Skips it if a 429 in between extended the wait.
      const broken = refusals.slice(0, index).find((earlier, at) => {
        const isOver = elapsedSeconds(earlier, later, facts).min >= announcedSeconds(earlier) * (1 + maxDrift);
        return (
          isOver &&
          !refusals
            .slice(at + 1, index)
            .some(
              (between) =>
                elapsedSeconds(earlier, between, facts).max + announcedSeconds(between) >
                announcedSeconds(earlier) + maxRoundingSeconds,
            )
        );
      });
      if (broken === undefined) continue;
      return breach(
        describeAdmission(announcedSeconds(broken)),
        `429, ${formatSeconds(elapsedSeconds(broken, later, facts).min)} after it`,
        [describeRequest(broken, facts), describeRequest(later, facts)],
      );
    }
    const [first] = refusals;
    if (
      next !== undefined &&
      first !== undefined &&
      isAdmitted(next) &&
      elapsedSeconds(first, next, facts).max >= announcedSeconds(first)
    )
      proven += 1;
  }
  return proven > 0
    ? holds(`${proven} times admitted after \`retry_after\``)
    : unproven("nothing was sent after a `retry_after` had passed");
}

/** Judges LIM-14: no request is admitted before `retry_after` has passed. Tolerates a rounded `retry_after`. */
export function judgeRefusedBefore(facts: LoadFacts): JudgeResult {
  let proven = 0;
  for (const { refusals, next } of streaksOf(facts.main, facts)) {
    for (const [index, refusal] of refusals.entries()) {
      if (announcedSeconds(refusal) < minEarlySeconds) continue;
      const follower = refusals[index + 1];
      if (follower !== undefined && elapsedSeconds(refusal, follower, facts).max < announcedSeconds(refusal))
        proven += 1;
      if (next === undefined || !isAdmitted(next)) continue;
      const { max } = elapsedSeconds(refusal, next, facts);
      if (!isWellBefore(max, announcedSeconds(refusal))) continue;
      return breach(describeEarlyRefusal(max, announcedSeconds(refusal)), `${next.status}: the time left was shorter`, [
        describeRequest(refusal, facts),
        describeRequest(next, facts),
      ]);
    }
  }
  return proven > 0
    ? holds(`${proven} times still refused before \`retry_after\``)
    : unproven("nothing was sent well before the end of a `retry_after`");
}

/** Minimum median latency of slow refusals, in ms of the target's clock. In addition, `slowRatio` must be reached. */
const slowMs = 1000;
/** Minimum median latency of slow refusals in real ms, even if the target's clock runs fast. */
const minSlowMs = 200;
/** Minimum ratio of the median latency of slow refusals to the p90 latency of admitted requests. */
const slowRatio = 5;
const minRefusals = 5;

/** Judges whether refusals are much slower than admitted requests. The interface document has no such rule. */
export function judgeSlowRefusals(facts: LoadFacts): JudgeResult {
  const { speed, latency } = facts.evidence;
  const { refused, admitted } = latency;
  if (refused.count < minRefusals || admitted.count === 0)
    return unproven("fewer than 5 requests were refused, or none was admitted");
  const ofAnswering = facts.sent.filter(
    (each) =>
      isAdmitted(each) &&
      each.plannedFlow.operation.agent !== "slow" &&
      each.plannedFlow.operation.agent !== "slowStreaming",
  );
  const times = ofAnswering.map(({ headMs, sentMs }) => headMs - sentMs);
  const admittedMs = times.length > 0 ? quantile(times, 0.9) : admitted.p90Us / 1000;
  const refusedMs = refused.p50Us / 1000;
  const text = `429: half within ${formatMs(refusedMs)}, 99 % within ${formatMs(refused.p99Us / 1000)}; admitted: 90 % within ${formatMs(admittedMs)}`;
  const isLong = refusedMs >= (speed > 1 ? Math.max(minSlowMs, slowMs / speed) : slowMs);
  if (isLong && refusedMs >= slowRatio * admittedMs) return breach("a refusal comes as fast as an answer", text);
  return holds(text);
}

const formatMs = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

/** Creates a test that is `true` if only a rate limit, not concurrency or used-up tokens, can explain a refusal. */
export function createRateRefusalTest(facts: LoadFacts): (refusal: SampledRequest) => boolean {
  const uses = new Map(
    keyFactsIn(facts)
      .filter((use) => !mayHaveSpentTokens(use, facts))
      .map((use) => [use.key as string, notForSlotsOf(use, facts.limits.concurrent)]),
  );
  return (refusal) => uses.get(refusal.key)?.(refusal) ?? false;
}

function notForSlotsOf(use: KeyFacts, concurrent: number): (refusal: SampledRequest) => boolean {
  const decisions = new Map(use.history.decisions.map((decision) => [decision.id, decision]));
  const explains = createSlotTest(use.history, concurrent, use.options, new Set());
  const starts = sortedValues(use.samples, ({ sentMs }) => sentMs);
  const ends = sortedValues(use.samples, ({ headMs }) => headMs);
  return (refusal) => {
    const decision = decisions.get(refusal.id);
    const inFlight = countUpTo(starts, refusal.headMs) - countBelow(ends, refusal.sentMs);
    return decision !== undefined && inFlight <= concurrent && !explains(decision);
  };
}
