import { hourMs, minuteMs } from "../../base/duration.ts";
import { judgeEachKey } from "./breach-clause.ts";
import { type KeyFacts, describeRequest, type LoadFacts } from "./facts.ts";
import { countUpTo, sortedBy } from "../../base/sorted.ts";
import { breach, holds, type JudgeResult, unproven } from "./finding.ts";
import { groupByWindow } from "../../rules/limits/time-left.ts";
import { countRequestsBetween, type RequestsBetween } from "./requests-between.ts";
import { isAdmitted, isRefused, isAgentCall } from "../../rules/limits/sample.ts";
import type { SampledRequest } from "./sampled-requests.ts";

/** Two answers of one window, and how `Remaining` fell between them. */
interface Pair {
  readonly from: SampledRequest;
  readonly to: SampledRequest;
  readonly fell: number;
}

/** Values at an end of the range may stand there while a burst is drawn on. */
const isInside = ({ remaining, limit }: SampledRequest): boolean =>
  remaining !== null && limit !== null && remaining > 0 && remaining < limit;

/** The first answer of each window against each later one. */
function pairsOf(use: KeyFacts): Pair[] {
  return groupByWindow(use.sent).flatMap((window) => {
    const shown = window.filter((sample) => isInside(sample) && isAgentCall(sample) && !isRefused(sample));
    const [from, ...later] = shown;
    if (from === undefined) return [];
    return later.map((to) => ({ from, to, fell: (from.remaining ?? 0) - (to.remaining ?? 0) }));
  });
}

/** What we send with the main key before a load, and is none of its requests: usage is read, and a webhook is made. */
const sentBeforehand = ({ key }: KeyFacts, { evidence }: LoadFacts): number =>
  key === "main" ? Number(evidence.ledger !== null) + Number(evidence.deliveries !== null) : 0;

/** An answer that shows less than the key's own requests can have left, on a key that was not used before. */
export function findTooLowRemaining(
  use: KeyFacts,
  facts: LoadFacts,
): { readonly sample: SampledRequest; readonly what: string } | null {
  // A bucket holds the burst, whatever it calls its limit.
  const { limits } = facts;
  if (use.history.priorUse !== "nothing" || limits.burst === null) return null;
  const beforehand = sentBeforehand(use, facts);
  const starts = sortedBy(
    use.sent.filter(({ kind }) => kind !== "health"),
    ({ sentMs }) => sentMs,
  );
  for (const sample of use.sent) {
    const { limit, remaining } = sample;
    if (
      limit === null ||
      remaining === null ||
      remaining < 0 ||
      (limit !== limits.perMinute && limit !== limits.perHour)
    )
      continue;
    const most = beforehand + countUpTo(starts, sample.headMs);
    if (remaining < Math.min(limit, limits.burst) - most)
      return {
        sample,
        what: `${remaining} of ${limit} left, when at most ${most} requests can have counted on the key`,
      };
  }
  return null;
}

/** HDR-12 and LIM-11: how far `Remaining` falls. */
function judgeFall(facts: LoadFacts, withStreams: boolean): JudgeResult {
  return judgeEachKey(facts, (use) => {
    const between = countRequestsBetween(use.sent);
    const streams = use.sent.filter(({ kind }) => kind === "stream");
    const sentMs = streams.map((each) => each.sentMs);
    const hasStream = ({ from, to }: Pair): boolean =>
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
      const wrong = tooFar(pair, between) ?? tooLittle(pair, between, use, facts);
      if (wrong !== null)
        return breach(
          withStreams
            ? "a stream uses up one request, as an invoke does"
            : "`Remaining` falls by one with each counted request",
          wrong,
          [describeRequest(pair.from, facts), describeRequest(pair.to, facts)],
        );
      if (between.max(pair.from, pair.to) - between.min(pair.from, pair.to) <= pair.fell) proven += 1;
    }
    if (proven > 0) return holds(`${proven} pairs of answers of one window`);
    return unproven("no two answers of one window showed `Remaining` inside its range");
  });
}

export const judgeRemainingFalls = (facts: LoadFacts): JudgeResult => judgeFall(facts, false);
export const judgeStreamCounts = (facts: LoadFacts): JudgeResult => judgeFall(facts, true);

function tooFar({ from, to, fell }: Pair, between: RequestsBetween): string | null {
  const most = between.max(from, to);
  return fell <= most ? null : `it fell by ${fell}, with at most ${most} requests in between`;
}

function tooLittle({ from, to, fell }: Pair, between: RequestsBetween, use: KeyFacts, facts: LoadFacts): string | null {
  if (to.sentMs < from.headMs || !isFirstWindow(use, to, facts)) return null;
  const least = between.min(from, to) - mayRegain(from, to, use, facts) - givenBack(use);
  return fell >= least ? null : `it fell by ${fell}, with at least ${least} admitted requests in between`;
}

/** Nothing can have run out yet. */
function isFirstWindow(use: KeyFacts, { headMs, limit }: SampledRequest, { time, limits }: LoadFacts): boolean {
  const [first] = use.sent;
  if (use.history.priorUse !== "nothing" || first === undefined) return false;
  const windowMs = limit === limits.perHour ? hourMs : minuteMs;
  return time.at(headMs).toMs - time.at(first.sentMs).fromMs < windowMs - 2000;
}

/** What a bucket may have refilled, or faded of the window before: no limiter gives back more than all it admits in a minute. */
function mayRegain(
  from: SampledRequest,
  to: SampledRequest,
  { history, sent }: KeyFacts,
  { limits, time }: LoadFacts,
): number {
  const isAnnounced = history.announced?.[from.limit === limits.perHour ? "hour" : "minute"] !== undefined;
  const isFirst = sent.find(({ limit }) => limit === from.limit)?.reset === from.reset;
  if (isAnnounced && isFirst) return 0;
  if (limits.burst === null) return Infinity;
  return (
    1 +
    Math.ceil((((from.limit ?? 0) + limits.burst) / minuteMs) * (time.at(to.headMs).toMs - time.at(from.sentMs).fromMs))
  );
}

/** Errors may be taken back, and what got no answer may not have counted. */
const givenBack = ({ sent }: KeyFacts): number =>
  sent.filter((each) => isAgentCall(each) && !isAdmitted(each) && each.status !== 429).length;
