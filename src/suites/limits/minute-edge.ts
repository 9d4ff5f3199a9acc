import { setTimeout as sleep } from "node:timers/promises";

import { minuteMs } from "../../base/duration.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { isMinuteLimit } from "../../rules/limits/header-rules.ts";
import { isAdmitted, isRefused, type Sample, sampleOf } from "../../rules/limits/sample.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { tiersUnderTest, type TierUnderTest } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { SkipError } from "../../run/skip-reason.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { Target } from "../../target/target.ts";
import { countedReadPath, helloBody, unpaced } from "./exhaust.ts";
import { countedReadOf } from "./key-history.ts";
import { useExpiryMs } from "./timed-retry.ts";

const since = "1.2";

/**
 * Requests of one minute. For example, `before` leaves 2 requests of the limit, `atOnce` are 3 concurrent invokes, and
 * `after` is one more. If `Remaining` does not reach 1 or 2, `atOnce` is empty and `after` is `null`.
 */
export interface EdgeOfMinute {
  readonly before: readonly Exchange[];
  readonly atOnce: readonly Exchange[];
  readonly after: Exchange | null;
}

interface EdgesReached {
  readonly limits: TierLimits;
  readonly edges: readonly EdgeOfMinute[];
}

/** Largest limit per minute to test. A larger limit would take too many requests. */
const maxPerMinute = 100;
const maxAtOnce = 3;
/** Number of attempts if none admits too many. One may prove nothing: its requests can arrive one by one. */
const usualTries = 2;
/**
 * A breach needs this many attempts that admit more requests than `Remaining` reported. In a single attempt, a token
 * bucket can refill between two responses and legally admit one more.
 */
const minExcesses = 2;
const maxTries = usualTries + 1;
/** Pause before the concurrent requests. Meanwhile, the server frees the concurrency slots of earlier requests. */
const slotPauseMs = 50;

const requestsAtOnce = ({ concurrent }: TierLimits): number => Math.min(maxAtOnce, concurrent);

function smallestTier(target: Target): TierUnderTest | null {
  if (target.clock === null) return null;
  const [smallest] = tiersUnderTest(target)
    .filter(({ limits }) => limits.concurrent > 1 && limits.perMinute <= maxPerMinute)
    .toSorted((one, other) => one.limits.perMinute - other.limits.perMinute);
  return smallest ?? null;
}

const plannedRequests = (target: Target): number => maxTries * ((smallestTier(target)?.limits.perMinute ?? -2) + 2);

const edgesReached = probe(
  "requests are sent at once when fewer are left in a minute",
  {
    needs: ["agents.answering"],
    requests: plannedRequests,
    executions: (target) => (smallestTier(target) === null ? 0 : maxTries * (maxAtOnce + 1)),
    keys: (target) => [smallestTier(target)?.key ?? []].flat(),
    stage: "coverage",
    since,
  },
  async (context): Promise<EdgesReached | null> => {
    const tier = smallestTier(context.target);
    if (tier === null) return null;
    if (countedReadOf(context.discovery) === null)
      throw new SkipError("no GET request is known to count (HDR-12), so the minute takes agent executions");
    const edges: EdgeOfMinute[] = [];
    while (mayTryAgain(edges, tier.limits)) edges.push(await reachEdge(tier, context));
    return { limits: tier.limits, edges };
  },
);

const isBreach = ({ kind }: Finding<never>): boolean => kind === "breach";

function mayTryAgain(edges: readonly EdgeOfMinute[], limits: TierLimits): boolean {
  const excesses = edges.filter((each) => isBreach(excessOf(each, limits))).length;
  const sent = edges.reduce((sum, { before, atOnce }) => sum + before.length + atOnce.length, 0);
  if (edges.length >= maxTries || excesses >= minExcesses) return false;
  return excesses > 0 || (edges.length < usualTries && sent < limits.perMinute + maxAtOnce);
}

async function reachEdge(
  { key, limits }: TierUnderTest,
  { client, given, time, discovery }: ProbeContext<"agents.answering">,
): Promise<EdgeOfMinute> {
  const own = client.as(key);
  const path = countedReadPath(countedReadOf(discovery));
  const invoke = (): Promise<Exchange> => own.invoke(given["agents.answering"], helloBody, unpaced);
  const count = requestsAtOnce(limits);
  await time.passTime(useExpiryMs, "earlier use of the key must expire");
  // Sends the first requests concurrently, to open the connections that the requests of `atOnce` will use.
  const before = await Promise.all(Array.from({ length: count }, () => own.send("GET", path, unpaced)));
  const max = limits.perMinute + (limits.burst ?? 0);
  while (before.length < max && before.every(isAdmittedExchange) && remainingOf(before.at(-1), limits) >= count)
    before.push(await own.send("GET", path, unpaced));
  await sleep(slotPauseMs);
  const left = remainingOf(before.at(-1), limits);
  if (!before.every(isAdmittedExchange) || !(left >= 1 && left < count)) return { before, atOnce: [], after: null };
  const atOnce = await Promise.all(Array.from({ length: count }, invoke));
  return { before, atOnce, after: await invoke() };
}

const isAdmittedExchange = (exchange: Exchange): boolean => isAdmitted(sampleOf(exchange));

/** Returns the requests left in the minute; `NaN` if the response's headers do not report the limit per minute. */
function remainingOf(exchange: Exchange | undefined, limits: TierLimits): number {
  if (exchange === undefined) return Number.NaN;
  const { limit, remaining } = sampleOf(exchange);
  return isMinuteLimit(limit, limits) ? (remaining ?? Number.NaN) : Number.NaN;
}

/**
 * If `Reset` changes by more than this between two responses, a new minute has begun. Smaller changes do not count,
 * because a token bucket changes `Reset` with every request.
 */
const maxResetDifferenceSeconds = 30;
/** Returns the maximum duration of an attempt. In this time, a token bucket refills only half a request. */
const maxDurationMs = ({ perMinute }: TierLimits): number => minuteMs / perMinute / 2;

function isOneMinute(samples: readonly Sample[], limits: TierLimits): boolean {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return false;
  const isNear = samples.slice(1).every((each, at) => {
    const previous = samples[at];
    const difference = Math.abs((each.reset ?? Number.NaN) - (previous?.reset ?? Number.NaN));
    return each.limit === first.limit && difference <= maxResetDifferenceSeconds;
  });
  return isNear && last.headMs - first.sentMs + last.headClockMs - first.sentClockMs <= maxDurationMs(limits);
}

/** Whether the rate limit refused the request. A 429 with `Remaining` above 0 comes from another limit. */
const isRefusedForRate = (sample: Sample): boolean => isRefused(sample) && (sample.remaining ?? 0) === 0;

/** Judges HDR-19. For example, after `Remaining: 2`, the server must not admit three concurrent requests. */
function excessOf({ before, atOnce, after }: EdgeOfMinute, limits: TierLimits): Finding<never> {
  const last = before.at(-1);
  if (last !== undefined && isAdmittedExchange(last) && Number.isNaN(remainingOf(last, limits)))
    return inapplicable("the headers do not report the minute when its end is near");
  if (last === undefined || atOnce.length === 0 || after === null)
    return unproven("no response said that fewer requests are left in the minute than are sent at once");
  const left = remainingOf(last, limits);
  const admitted = atOnce.filter(isAdmittedExchange);
  if (admitted.length <= left)
    return atOnce.some((each) => isRefused(sampleOf(each))) ? holds() : unproven("the requests at once failed");
  if (!isRefusedForRate(sampleOf(after)))
    return unproven("the request after them was not refused for the rate, so requests may have several limits");
  const samples = [...before, ...admitted].map((each) => sampleOf(each));
  if (!isOneMinute(samples, limits)) return unproven("the responses may be of two minutes");
  return breach(
    `at most ${left} more admitted, as \`X-RateLimit-Remaining: ${left}\` says`,
    `${admitted.length} of ${atOnce.length} requests sent at once, and after these 429`,
    last,
    ...admitted,
    after,
  );
}

export function judgeEdges(reached: EdgesReached | null): Finding<never> {
  if (reached === null) return inapplicable("no key has a small limit per minute and two slots, or no test clock");
  const findings = reached.edges.map((edge) => excessOf(edge, reached.limits));
  const excesses = findings.filter(isBreach);
  if (excesses.length > 0 && excesses.length < minExcesses)
    return unproven("only once were more admitted than were left, which a bucket that refills by chance explains");
  return excesses[0] ?? findings.find(({ kind }) => kind === "holds") ?? findings[0] ?? unproven("no request was sent");
}

export const minuteEdgeCheck: Check = check("HDR-19", edgesReached, judgeEdges, {
  as: "requests at once",
  since,
});
