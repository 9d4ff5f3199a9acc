import { hourMs, minuteMs } from "../../base/duration.ts";
import { countBelow, countUpTo, sortedValues } from "../../base/lists.ts";
import {
  describeAdmittedWhenExhausted,
  exhaustedWindowRule,
  judgeExhausted,
} from "../../rules/limits/exhausted-window.ts";
import { isAdmitted, isAgentCall, isRefused } from "../../rules/limits/sample.ts";
import { groupByWindow } from "../../rules/limits/reset-headers.ts";
import { breachedClause, judgeEachKey } from "./breach-clause.ts";
import { describeRequest, elapsedSeconds, type KeyFacts, type LoadFacts } from "./facts.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import type { SampledRequest } from "./sampled-requests.ts";

interface ResponsePair {
  readonly from: SampledRequest;
  readonly to: SampledRequest;
  readonly fell: number;
}

const isInside = ({ remaining, limit }: SampledRequest): boolean =>
  remaining !== null && limit !== null && remaining > 0 && remaining < limit;

function pairsOf(use: KeyFacts): ResponsePair[] {
  return groupByWindow(use.samples).flatMap((window) => {
    const [from, ...later] = window.filter((each) => isInside(each) && isAgentCall(each) && !isRefused(each));
    if (from === undefined) return [];
    return later.map((to) => ({ from, to, fell: (from.remaining ?? 0) - (to.remaining ?? 0) }));
  });
}

/** Finds a response whose `Remaining` is too low for the number of requests sent with the key. */
export function findTooLowRemaining(
  use: KeyFacts,
  facts: LoadFacts,
): { readonly sample: SampledRequest; readonly what: string } | null {
  const { limits } = facts;
  // Earlier requests, or a token bucket of unknown size, can explain any `Remaining`.
  if (!use.isFresh || limits.burst === null) return null;
  const starts = sortedValues(use.samples.filter(isCountable), ({ sentMs }) => sentMs);
  for (const sample of use.samples) {
    const { limit, remaining } = sample;
    if (
      limit === null ||
      remaining === null ||
      remaining < 0 ||
      (limit !== limits.perMinute && limit !== limits.perHour)
    )
      continue;
    const max = use.sentBefore + countUpTo(starts, sample.headMs);
    if (remaining < Math.min(limit, limits.burst) - max)
      return {
        sample,
        what: `${remaining} of ${limit} left, when at most ${max} requests can have counted on the key`,
      };
  }
  return null;
}

/** Judges HDR-12, or LIM-11 if `withStreams`: each counted request lowers `Remaining` by one. */
function judgeFall(facts: LoadFacts, withStreams: boolean): JudgeResult {
  return judgeEachKey(facts, (use) => {
    const between = countRequestsBetween(use.samples);
    const streams = use.samples.filter(({ kind }) => kind === "stream");
    const sentMs = streams.map((each) => each.sentMs);
    const hasStream = ({ from, to }: ResponsePair): boolean =>
      streams.length > 0 &&
      sentMs.some((ms, index) => ms <= to.headMs && (streams[index]?.headMs ?? ms) >= from.sentMs);
    const below = findTooLowRemaining(use, facts);
    const isOfStreams = below !== null && sentMs.some((ms) => ms <= below.sample.headMs);
    if (below !== null && isOfStreams === withStreams)
      return breach("`Remaining` falls by one with each counted request, and by nothing else", below.what, [
        describeRequest(below.sample, facts),
      ]);
    let proven = 0;
    for (const pair of pairsOf(use)) {
      if ((streams.length > 0 && hasStream(pair)) !== withStreams) continue;
      const actual = describeTooFar(pair, between) ?? describeTooLittle(pair, between, use, facts);
      if (actual !== null)
        return breach(
          withStreams
            ? "a stream uses up one request, as an invoke does"
            : "`Remaining` falls by one with each counted request",
          actual,
          [describeRequest(pair.from, facts), describeRequest(pair.to, facts)],
        );
      if (between.max(pair.from, pair.to) - between.min(pair.from, pair.to) <= pair.fell) proven += 1;
    }
    if (proven > 0) return holds(`${proven} pairs of responses of one window`);
    return unproven("no two responses of one window reported `Remaining` inside its range");
  });
}

export const judgeRemainingFalls = (facts: LoadFacts): JudgeResult => judgeFall(facts, false);
export const judgeStreamCounts = (facts: LoadFacts): JudgeResult => judgeFall(facts, true);

function describeTooFar({ from, to, fell }: ResponsePair, between: RequestsBetween): string | null {
  const max = between.max(from, to);
  return fell <= max ? null : `it fell by ${fell}, with at most ${max} requests in between`;
}

function describeTooLittle(
  { from, to, fell }: ResponsePair,
  between: RequestsBetween,
  use: KeyFacts,
  facts: LoadFacts,
): string | null {
  if (to.sentMs < from.headMs || !isFirstWindow(use, to, facts)) return null;
  const min = between.min(from, to) - maxRegained(from, to, use, facts) - uncountedRequests(use);
  return fell >= min ? null : `it fell by ${fell}, with at least ${min} admitted requests in between`;
}

function isFirstWindow(use: KeyFacts, { headMs, limit }: SampledRequest, { time, limits }: LoadFacts): boolean {
  const [first] = use.samples;
  if (!use.isFresh || first === undefined) return false;
  const windowMs = limit === limits.perHour ? hourMs : minuteMs;
  return time.at(headMs).toMs - time.at(first.sentMs).fromMs < windowMs - 2000;
}

function maxRegained(
  from: SampledRequest,
  to: SampledRequest,
  { history, samples }: KeyFacts,
  { limits, time }: LoadFacts,
): number {
  const isAnnounced = history.announced?.[from.limit === limits.perHour ? "hour" : "minute"] !== undefined;
  const isFirst = samples.find(({ limit }) => limit === from.limit)?.reset === from.reset;
  if (isAnnounced && isFirst) return 0;
  if (limits.burst === null) return Infinity;
  return (
    1 +
    Math.ceil((((from.limit ?? 0) + limits.burst) / minuteMs) * (time.at(to.headMs).toMs - time.at(from.sentMs).fromMs))
  );
}

const uncountedRequests = ({ samples }: KeyFacts): number =>
  samples.filter((each) => isAgentCall(each) && !isAdmitted(each) && each.status !== 429).length;

interface RequestsBetween {
  /** Maximum number of requests that the server can have counted after `from`, up to and including `to`. */
  readonly max: (from: SampledRequest, to: SampledRequest) => number;
  /** Number of requests that the server certainly admitted after `from`, up to and including `to`. */
  readonly min: (from: SampledRequest, to: SampledRequest) => number;
}

export function countRequestsBetween(sent: readonly SampledRequest[]): RequestsBetween {
  const countable = sent.filter(isCountable);
  const starts = sortedValues(countable, ({ sentMs }) => sentMs);
  const ends = sortedValues(countable, ({ headMs, status }) => (status === null ? Infinity : headMs));
  const admitted = sent.filter((each) => isAgentCall(each) && isAdmitted(each));
  const sentAt = sortedValues(admitted, ({ sentMs }) => sentMs);
  const answeredAt = sortedValues(admitted, ({ headMs }) => headMs);
  return {
    max: (from, to) => countUpTo(starts, to.headMs) - countBelow(ends, from.sentMs) - (isCountable(from) ? 1 : 0),
    min: (from, to) => {
      const whole = countBelow(answeredAt, to.sentMs) - countUpTo(sentAt, from.headMs);
      return Math.max(0, whole) + (isAgentCall(to) && isAdmitted(to) && to.sentMs >= from.headMs ? 1 : 0);
    },
  };
}

const isCountable = ({ kind }: SampledRequest): boolean => kind !== "health";

/** Judges HDR-19: after `Remaining: 0`, no request is admitted in the same window. */
export function judgeAdmittedAfterZero(facts: LoadFacts): JudgeResult {
  return judgeEachKey(facts, (use) => {
    const broken = breachedClause(use, facts);
    if (broken?.judged.breach === "too many admitted") return unproven(`a limit is broken (${broken.clause})`);
    const judged = judgeExhausted({ ...use, elapsed: (from, to) => elapsedSeconds(from, to, facts) });
    if (judged.kind === "kept") return holds(`${judged.count} times`);
    if (judged.kind === "not tested")
      return unproven("no admitted request got `Remaining: 0` with another request after it");
    const { exhausted, admitted } = judged.beyond;
    return breach(
      exhaustedWindowRule,
      describeAdmittedWhenExhausted(judged.beyond),
      [exhausted, ...admitted.slice(0, 5)].map((each) => describeRequest(each, facts)),
    );
  });
}
