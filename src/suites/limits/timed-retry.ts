import { hourMs } from "../../base/duration.ts";
import { setTimeout as sleep } from "node:timers/promises";

import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import type { Client } from "../../run/send/client.ts";
import type { TierProbeContext } from "../../run/probe.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { retryAfterSeconds } from "../../rules/limits/sample.ts";
import { keyHistoryOf } from "./key-history.ts";
import { hello, retryPausesMs, waitIfAllowed } from "./exhaust.ts";

/** A request sent some time after a refusal. Bounds in seconds of the target's clock. */
export interface TimedRetry {
  readonly exchange: Exchange;
  /** `retry_after` of the refusal. */
  readonly saidSeconds: number;
  readonly atLeastSeconds: number;
  readonly atMostSeconds: number;
}

export type LimitsProbeContext = TierProbeContext<"agents.answering">;

/** Longest time that a request counts under any admissible limiter. Some add a share of the window before. */
export const useExpiryMs = 2 * hourMs + 2000;

/** Options of a request that is sent without waiting for an allowance. */
export const unpacedRequest = { unpaced: true } as const;

/** State of a key before its allowance is exhausted. */
export interface Beginning {
  readonly beganFresh: boolean;
  readonly idleSinceMs: number | null;
}

/** Waits until earlier use of the key no longer counts, if the run can advance the target's clock. */
export async function expireEarlierUse({
  tested: { key, limits },
  time,
  target,
  recorder,
  discovery,
}: LimitsProbeContext): Promise<Beginning> {
  const isUsed = keyHistoryOf(key, limits, { target, recorder, look: discovery, idleSinceMs: null }).samples.length > 0;
  if (key.fresh && !isUsed) return { beganFresh: true, idleSinceMs: null };
  if (target.clock === null) return { beganFresh: false, idleSinceMs: null };
  await time.passTime(useExpiryMs, "earlier use of the key must run out");
  return { beganFresh: true, idleSinceMs: time.now() };
}

/** Retries well before `retry_after` is over; `null` if it is too short for that or the run may not wait. */
export async function retryEarly(
  client: Client,
  agent: string,
  refusal: Exchange | undefined,
  time: RunClock,
): Promise<TimedRetry | null> {
  const saidSeconds = refusal === undefined || statusOf(refusal) !== 429 ? null : retryAfterSeconds(refusal);
  if (refusal === undefined || saidSeconds === null || saidSeconds < 4) return null;
  const restMs = (saidSeconds - Math.max(3, saidSeconds / 10)) * 1000;
  if (!(await waitIfAllowed(time, restMs, "a request well before `retry_after`"))) return null;
  return later(await client.invoke(agent, hello, unpacedRequest), refusal, saidSeconds);
}

/** Retries when `retry_after` is over; `null` if the run may not wait that long. */
export async function retryWhenDue(
  client: Client,
  agent: string,
  refusal: Exchange | undefined,
  time: RunClock,
): Promise<TimedRetry | null> {
  const saidSeconds = refusal === undefined || statusOf(refusal) !== 429 ? null : retryAfterSeconds(refusal);
  if (refusal === undefined || saidSeconds === null || saidSeconds < 0) return null;
  if (!(await waitIfAllowed(time, (saidSeconds + 0.5) * 1000, "`retry_after` must pass"))) return null;
  let exchange = await client.invoke(agent, hello, unpacedRequest);
  // If the wait only advanced the clock, a slot that the server releases late may still be held.
  if (time.maxClockOffsetMs() > refusal.clockMs && statusOf(exchange) === 429)
    for (const pauseMs of retryPausesMs) {
      await sleep(pauseMs);
      exchange = await client.invoke(agent, hello, unpacedRequest);
      if (statusOf(exchange) !== 429) break;
    }
  return later(exchange, refusal, saidSeconds);
}

function later(exchange: Exchange, refusal: Exchange, saidSeconds: number): TimedRetry {
  const movedMs = exchange.clockMs - refusal.clockMs;
  const refusedMs = refusal.answer.kind === "answered" ? refusal.answer.headMs : refusal.answer.endMs;
  const headMs = exchange.answer.kind === "answered" ? exchange.answer.headMs : exchange.answer.endMs;
  return {
    exchange,
    saidSeconds,
    // A clock that the run advances may stand still in between.
    atLeastSeconds: Math.max(movedMs, movedMs === 0 ? exchange.sentMs - refusedMs : 0) / 1000,
    atMostSeconds: (movedMs + headMs - refusal.sentMs) / 1000,
  };
}
