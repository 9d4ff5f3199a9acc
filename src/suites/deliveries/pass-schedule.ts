import { randomUUID } from "node:crypto";

import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Hook, Receiver } from "../../receiver/receiver.ts";
import type { Client } from "../../run/send/client.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { deliveryPolicy } from "../../spec/events-and-errors.ts";
import {
  awaitDeliveries,
  deliveryTimeoutMs,
  type ExpectedDeliveries,
  maxQueuedMs,
  type OpenedWebhook,
  webhookIdOf,
  webhookPath,
} from "../webhooks/create-webhook.ts";
import { isToWebhook } from "./events.ts";
import { advanceClock } from "./held-replies.ts";
import {
  allowedEarlyMs,
  allowedLateMs,
  type DelayOrigin,
  firstRetryWithinMs,
  maxPauseMs,
  type TimeSpan,
} from "./retry-schedule.ts";

/** Evidence of a complete retry schedule: the test clock has advanced past the last retry. */
export interface CompletedRetries {
  readonly deliveries: readonly Delivery[];
  /** Advances of the test clock: its offset before and after each. */
  readonly moves: readonly TimeSpan[];
  readonly untilMs: number;
  /** Response to `GET …/deliveries` of the failing webhook; `null` if the webhook's id is unknown. */
  readonly listed: Exchange | null;
  /** Response to `GET` of the failing webhook; `null` if the webhook's id is unknown. */
  readonly shown: Exchange | null;
  /** An invoke after the last retry. `came` is the number of deliveries that the failing webhook then gets. */
  readonly again: { readonly invoked: Exchange; readonly came: number };
}

interface ScheduleContext {
  readonly client: Client;
  readonly receiver: Receiver;
  readonly time: RunClock;
  readonly failing: OpenedWebhook;
  readonly agent: string;
  readonly moves: TimeSpan[];
  /** Whether to wait for retries. `false` if the first deliveries have not arrived. */
  readonly isAwaited: boolean;
  readonly failingHooks: readonly Hook[];
}

/** Advances the test clock past all retries, then invokes again. Returns `null` if the sender retries in real time. */
export async function passSchedule(context: ScheduleContext): Promise<CompletedRetries | null> {
  const { client, receiver, time, failing, agent, moves } = context;
  const { address } = failing;
  const first = clockOffsetOf(address, 0) ?? time.clockOffsetMs();
  let { isAwaited } = context;
  let origin: DelayOrigin | null = null;
  let queuedMs = 0;
  for (const [index, delayMs] of deliveryPolicy.retryDelaysMs.entries()) {
    const previous = clockOffsetOf(address, -1) ?? first;
    const bases = new Set(delayBases(origin, { first, previous }));
    const due = [...bases].map((base) => base + delayMs + timerLagMs);
    const around = [...bases].flatMap((base) => [
      base + delayMs - allowedEarlyMs(delayMs) - stopDistanceMs(delayMs),
      base + delayMs + allowedLateMs(delayMs) + stopDistanceMs(delayMs),
    ]);
    const before = address.deliveries().length;
    let dueMs = time.now();
    for (const instant of [...due, ...around].toSorted((one, other) => one - other)) {
      await advanceTo(instant, time, moves);
      const isDue = due.includes(instant);
      if (isDue) dueMs = time.now();
      // Also waits in real time, because some senders look for due retries at intervals of real time.
      if (isAwaited)
        await awaitArrivals(address, before + 1, isDue ? dueTimeMs(index, queuedMs, time) : pollTimeMs(queuedMs, time));
    }
    if (isAwaited && index > 0) isAwaited = await awaitArrivals(address, index + 1, overdueMs(time));
    origin ??= observedOrigin(clockOffsetOf(address, before), { first, previous, delayMs });
    queuedMs = Math.max(queuedMs, (address.deliveries()[before]?.receivedMs ?? 0) - dueMs);
  }
  await advanceTo((clockOffsetOf(address, -1) ?? first) + maxPauseMs + endMarginMs, time, moves);
  const untilMs = time.clockOffsetMs();
  if (await retriesUseRealTime(context)) return null;
  const deliveries = receiver.deliveries().filter(isToWebhook);

  const id = webhookIdOf(failing.exchange);
  const listed = id === null ? null : await client.send("GET", webhookPath(id, "/deliveries"));
  const shown = id === null ? null : await client.send("GET", webhookPath(id));
  const before = address.deliveries().length;
  address.acceptAll();
  const invoked = await client.invoke(agent, { query: `Hello again. ${randomUUID()}` }, { noRetry: true });
  if (isAwaited) await awaitDeliveries([{ address, count: before + 1 }], time);
  return { deliveries, moves, untilMs, listed, shown, again: { invoked, came: address.deliveries().length - before } };
}

/** Waits about `realMs` for `count` deliveries. Its small steps take longer on a busy machine, as the target does. */
async function awaitArrivals(address: Hook, count: number, realMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < realMs; waitedMs += arrivalStepMs)
    if (await address.waitForDeliveries(count, Math.min(arrivalStepMs, realMs - waitedMs))) return true;
  return address.waitForDeliveries(count, 0);
}

const arrivalStepMs = 20;

function overdueMs(time: RunClock): number {
  if (time.settleMs === 0) return deliveryTimeoutMs(time);
  return time.agentsFollow ? Math.max(minOverdueMs, deliveryTimeoutMs(time)) : maxQueuedMs;
}

/** Minimum real time to wait for an overdue attempt. One lost TCP packet can delay an attempt by a second. */
const minOverdueMs = 2000;

async function advanceTo(instant: number, time: RunClock, moves: TimeSpan[]): Promise<void> {
  if (instant <= time.clockOffsetMs()) return;
  await advanceClock(time, instant - time.clockOffsetMs(), moves);
  if (time.settleMs > 0) await time.sleepReal(time.settleMs);
}

/**
 * Whether the sender times its retries by the real clock. If past retries do not show which clock the sender uses,
 * waits in real time for the next retry.
 */
async function retriesUseRealTime({ failingHooks, time, isAwaited }: ScheduleContext): Promise<boolean> {
  if (!isAwaited || time.agentsFollow || time.settleMs === 0) return false;
  const retries = failingHooks.flatMap((address) => {
    const [first, ...others] = address.deliveries();
    return others.map(({ clockMs, receivedMs }) => ({
      clockMs: clockMs - (first?.clockMs ?? 0),
      realMs: receivedMs - (first?.receivedMs ?? 0),
    }));
  });
  if (retries.some(({ clockMs, realMs }) => clockMs >= earliestRetryMs && realMs < earliestRetryMs)) return false;
  if (retries.some(({ realMs }) => realMs >= earliestRetryMs)) return true;
  const before = failingHooks.map((address) => ({ address, count: address.deliveries().length }));
  const hasRetried = ({ address, count }: ExpectedDeliveries): boolean => address.deliveries().length > count;
  const firstMs = Math.max(...failingHooks.map((address) => address.deliveries()[0]?.receivedMs ?? -Infinity));
  const untilMs = firstMs + firstRetryWithinMs;
  while (time.now() < untilMs && !before.every(hasRetried)) await time.sleep(realStepMs);
  return before.some(hasRetried);
}

/**
 * Earliest time of the first delayed retry: 54 s after the first attempt. A retry after 54 s by the test clock, but
 * less in real time, shows that the sender follows the test clock.
 */
const earliestRetryMs = deliveryPolicy.retryDelaysMs[1] - allowedEarlyMs(deliveryPolicy.retryDelaysMs[1]);
const realStepMs = 2000;

interface DelayBases {
  readonly first: number;
  readonly previous: number;
}

const delayBases = (origin: DelayOrigin | null, { first, previous }: DelayBases): number[] =>
  origin === null ? [first, previous] : [origin === "from-first" ? first : previous];

function observedOrigin(
  attempt: number | undefined,
  { first, previous, delayMs }: DelayBases & { readonly delayMs: number },
): DelayOrigin | null {
  const isExpected = (base: number): boolean =>
    attempt !== undefined &&
    attempt >= base + delayMs - allowedEarlyMs(delayMs) &&
    attempt <= base + delayMs + allowedLateMs(delayMs);
  const [byFirst, byPrevious] = [isExpected(first), isExpected(previous)];
  if (byFirst === byPrevious) return null;
  return byFirst ? "from-first" : "from-previous";
}

/**
 * Time to advance the test clock beyond the longest allowed pause after the last attempt. Exactly at the end of this
 * pause, another attempt would still count as possible.
 */
const endMarginMs = 60_000;
/**
 * Returns how long before a retry's earliest allowed time, and after its latest, the probe looks for a mistimed retry.
 * Without this distance, a test clock that also runs by itself could reach the allowed time meanwhile.
 */
const stopDistanceMs = (delayMs: number): number => Math.max(1500, allowedEarlyMs(delayMs) / 2);
const timerLagMs = 1000;
/** Minimum real time to wait for a due delivery, as a multiple of `settleMs`. */
const dueSettles = 4;
const queueTimeFactor = 3;

const pollTimeMs = (queuedMs: number, { settleMs }: RunClock): number =>
  queuedMs > 0 ? Math.max(dueSettles * settleMs, queueTimeFactor * queuedMs) : 0;

/** Minimum real time to wait for the first delayed retry. If it comes 300 ms late, later waits last at least 900 ms. */
const firstRetryMs = 600;

/** Returns the maximum real time to wait for a due attempt. An advance before its arrival could make it time out. */
const dueTimeMs = (index: number, queuedMs: number, time: RunClock): number =>
  time.settleMs === 0
    ? 0
    : Math.max(dueSettles * time.settleMs, pollTimeMs(queuedMs, time), index === 1 ? firstRetryMs : 0);

const clockOffsetOf = (address: Hook, at: number): number | undefined => address.deliveries().at(at)?.clockAtMostMs;
