import { setTimeout as sleep } from "node:timers/promises";

import { hourMs, minuteMs } from "../../base/duration.ts";
import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { retryAfterSeconds, sampleOf } from "../../rules/limits/sample.ts";
import type { ProbeContext, TierProbeContext } from "../../run/probe.ts";
import { SkipError } from "../../run/skip-reason.ts";
import { invokeUnpaced, type KeySender, retryPausesMs, waitIfAllowed } from "./exhaust.ts";
import { burstReadOf, keyHistoryOf } from "./key-history.ts";

export interface TimedRetry {
  readonly exchange: Exchange;
  /** The refusal's `retry_after`. */
  readonly saidSeconds: number;
  /** Lower bound of the time between the refusal and this retry. */
  readonly atLeastSeconds: number;
  readonly atMostSeconds: number;
}

export type LimitsProbeContext = TierProbeContext<"agents.answering">;

/**
 * Time after which a request no longer counts toward any limit per minute or hour. The time is two hours, because some
 * limiters also count part of the previous hour.
 */
export const useExpiryMs = 2 * hourMs + 2000;

export const senderOf = (context: LimitsProbeContext): KeySender => ({
  client: context.client.as(context.tested.key),
  agent: context.given["agents.answering"],
  limits: context.tested.limits,
  time: context.time,
  countedRead: burstReadOf(context),
});

/** Statuses with which servers refuse a missing endpoint. Some servers check the key or the limit before the path. */
const missingStatuses: readonly number[] = [401, 403, 404, 405, 429];

/** Throws a `SkipError` if earlier requests show that the target lacks the endpoint. */
export function requireEndpoint(
  endpoint: "invoke" | "stream",
  { client, recorder }: Pick<ProbeContext, "client" | "recorder">,
): void {
  const own = recorder
    .exchangesSinceOutage()
    .filter(({ key, request }) => key === client.key.name && request.url.endsWith(`/${endpoint}`));
  const isMissing = own.some(isUnknown) && own.every((each) => missingStatuses.includes(statusOf(each) ?? 404));
  const clause = endpoint === "invoke" ? "INV-1" : "SSE-1";
  if (isMissing) throw new SkipError(`every ${endpoint} of the run got 404 or 405; see ${clause}`);
}

const isUnknown = (exchange: Exchange): boolean => [404, 405].includes(statusOf(exchange) ?? 0);

/** Lets earlier use of the key expire, if the target has a test clock and the key may have been used. */
export async function expireEarlierUse(context: LimitsProbeContext) {
  requireEndpoint("invoke", context);
  const {
    tested: { key, limits },
    time,
    target,
    recorder,
    discovery,
  } = context;
  const isUsed = keyHistoryOf(key, limits, { target, recorder, discovery, idleSinceMs: null }).samples.length > 0;
  if (key.fresh && !isUsed) return { beganFresh: true, idleSinceMs: null };
  if (target.clock === null) return { beganFresh: false, idleSinceMs: null };
  await time.passTime(useExpiryMs, "earlier use of the key must expire");
  return { beganFresh: true, idleSinceMs: time.now() };
}

/**
 * Sends a request well before `retry_after` has passed. Returns `null` if `retry_after` is missing or below 4 s, or the
 * run does not allow the wait.
 */
export async function retryEarly(sender: KeySender, refusal: Exchange | undefined): Promise<TimedRetry | null> {
  const seconds = reportedWaitSeconds(refusal);
  if (refusal === undefined || seconds === null || seconds < 4) return null;
  const waitMs = (seconds - Math.max(3, seconds / 10)) * 1000;
  if (!(await waitIfAllowed(sender.time, waitMs, "a request well before `retry_after`"))) return null;
  return timedRetry(await invokeUnpaced(sender), refusal, seconds);
}

/**
 * Sends a request half a second after `retry_after`, but not before `minWaitMs`. Returns `null` if `retry_after` is
 * missing or the run does not allow the wait.
 */
export async function retryWhenDue(
  sender: KeySender,
  refusal: Exchange | undefined,
  minWaitMs = 0,
): Promise<TimedRetry | null> {
  const seconds = reportedWaitSeconds(refusal);
  if (refusal === undefined || seconds === null || seconds < 0) return null;
  const dueMs = (seconds + 0.5) * 1000;
  if (!(await waitIfAllowed(sender.time, Math.max(dueMs, minWaitMs), "`retry_after` must pass"))) return null;
  let exchange = await invokeUnpaced(sender);
  // Advancing the test clock gives the server no real time to free a concurrency slot. Therefore, the probe repeats the
  // request after short pauses.
  const pausesMs = sender.time.maxClockOffsetMs() > refusal.clockMs ? retryPausesMs : [];
  for (const pauseMs of pausesMs) {
    if (statusOf(exchange) !== 429) break;
    await sleep(pauseMs);
    exchange = await invokeUnpaced(sender);
  }
  return timedRetry(exchange, refusal, seconds);
}

/** Returns `waitMs`, extended if it would end shortly before a reset. A burst after the wait then spans no reset. */
export function pastNearReset(
  waitMs: number,
  refusal: Exchange | undefined,
  { nowMs, perMinute }: { readonly nowMs: number; readonly perMinute: number },
): number {
  const sample = refusal === undefined ? null : sampleOf(refusal);
  if (sample === null || sample.limit !== perMinute || sample.resetAfter === null || sample.resetAfter > 61)
    return waitMs;
  const resetMs = sample.headMs + sample.resetAfter * 1000;
  const intoMinuteMs = (((nowMs + waitMs - resetMs) % minuteMs) + minuteMs) % minuteMs;
  const leftMs = minuteMs - intoMinuteMs;
  return leftMs <= maxBurstMs ? waitMs + leftMs + 500 : waitMs;
}

/** Assumed maximum duration of a burst. If less time is left until a reset, the burst starts after the reset. */
const maxBurstMs = 8000;

const reportedWaitSeconds = (refusal: Exchange | undefined): number | null =>
  refusal === undefined || statusOf(refusal) !== 429 ? null : retryAfterSeconds(refusal);

function timedRetry(exchange: Exchange, refusal: Exchange, saidSeconds: number): TimedRetry {
  const advancedMs = exchange.clockMs - refusal.clockMs;
  return {
    exchange,
    saidSeconds,
    // A test clock can stand still between advances, so only the advances count. Without an advance, real time counts.
    atLeastSeconds: Math.max(advancedMs, advancedMs === 0 ? exchange.sentMs - headMsOf(refusal) : 0) / 1000,
    atMostSeconds: (advancedMs + headMsOf(exchange) - refusal.sentMs) / 1000,
  };
}

const headMsOf = ({ answer }: Exchange): number => (answer.kind === "answered" ? answer.headMs : answer.endMs);
