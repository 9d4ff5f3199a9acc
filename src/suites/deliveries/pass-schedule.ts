import { randomUUID } from "node:crypto";

import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Hook, Receiver } from "../../receiver/receiver.ts";
import type { Client } from "../../run/send/client.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { deliveryPolicy } from "../../spec/events.ts";
import {
  awaitDeliveries,
  deliveryTimeoutMs,
  type ExpectedDeliveries,
  maxQueuedMs,
} from "../webhooks/await-deliveries.ts";
import { type OpenedWebhook, webhookIdOf, webhookPath } from "../webhooks/create-webhook.ts";
import { isToWebhook } from "./events.ts";
import { advanceClock } from "./held-replies.ts";
import {
  allowedEarlyMs,
  allowedLateMs,
  type DelayOrder,
  firstRetryWithinMs,
  maxPauseMs,
  type TimeSpan,
} from "./retry-schedule.ts";

/** Evidence of a webhook's whole retry schedule: the run has advanced the test clock past the last retry. */
export interface CompletedRetries {
  readonly deliveries: readonly Delivery[];
  /** The advances of the test clock, as its offsets before and after each of them. */
  readonly moves: readonly TimeSpan[];
  readonly untilMs: number;
  /** Response to `GET …/deliveries` of the failing webhook. `null` if its id is unknown. */
  readonly listed: Exchange | null;
  /** Response to `GET` of the failing webhook. `null` if its id is unknown. */
  readonly shown: Exchange | null;
  /** An invoke after the end of the schedule. `came` is the number of its deliveries to the failing webhook. */
  readonly again: { readonly invoked: Exchange; readonly came: number };
}

interface ScheduleContext {
  readonly client: Client;
  readonly receiver: Receiver;
  readonly time: RunClock;
  readonly failing: OpenedWebhook;
  readonly agent: string;
  readonly moves: TimeSpan[];
  /** Whether the probe waits for retries. If the first deliveries have not arrived, no retry can follow. */
  readonly isAwaited: boolean;
  readonly failingHooks: readonly Hook[];
}

/** Advances the test clock past the whole retry schedule; `null` if the sender retries in real time. */
export async function passSchedule(context: ScheduleContext): Promise<CompletedRetries | null> {
  const { client, receiver, time, failing, agent, moves } = context;
  const { address } = failing;
  const first = clockOffsetOf(address, 0) ?? time.clockOffsetMs();
  let { isAwaited } = context;
  let order: DelayOrder | null = null;
  let queuedMs = 0;
  for (const [index, delayMs] of deliveryPolicy.retryDelaysMs.entries()) {
    const previous = clockOffsetOf(address, -1) ?? first;
    const bases = new Set(delayBases(order, { first, previous }));
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
      // Pauses in real time before the next advance: some senders poll their queue in real time.
      if (isAwaited)
        await awaitArrivals(address, before + 1, isDue ? dueTimeMs(index, queuedMs, time) : pollTimeMs(queuedMs, time));
    }
    // By now, every reading of the schedule expects at least `index + 1` attempts.
    if (isAwaited && index > 0) isAwaited = await awaitArrivals(address, index + 1, overdueMs(time));
    order ??= observedOrder(clockOffsetOf(address, before), { first, previous, delayMs });
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

/** Waits for `count` deliveries in steps of real time, which a busy machine slows as much as the sender. */
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

/** Minimum real time to wait for an overdue attempt. TCP sends a lost packet again only after a second. */
const minOverdueMs = 2000;

async function advanceTo(instant: number, time: RunClock, moves: TimeSpan[]): Promise<void> {
  if (instant <= time.clockOffsetMs()) return;
  await advanceClock(time, instant - time.clockOffsetMs(), moves);
  if (time.settleMs > 0) await time.sleepReal(time.settleMs);
}

/** Whether the sender times its retries by the real clock; may wait in real time for the next retry. */
async function retriesUseRealTime({ failingHooks, time, isAwaited }: ScheduleContext): Promise<boolean> {
  if (!isAwaited || time.agentsFollow || time.settleMs === 0) return false;
  const retries = failingHooks.flatMap((address) => {
    const [first, ...others] = address.deliveries();
    return others.map(({ clockMs, receivedMs }) => ({
      clockMs: clockMs - (first?.clockMs ?? 0),
      realMs: receivedMs - (first?.receivedMs ?? 0),
    }));
  });
  if (retries.some(({ clockMs, realMs }) => clockMs >= minFollowedAdvanceMs && realMs < minFollowedAdvanceMs))
    return false;
  if (retries.some(({ realMs }) => realMs >= minFollowedAdvanceMs)) return true;
  const before = failingHooks.map((address) => ({ address, count: address.deliveries().length }));
  const hasRetried = ({ address, count }: ExpectedDeliveries): boolean => address.deliveries().length > count;
  const firstMs = Math.max(...failingHooks.map((address) => address.deliveries()[0]?.receivedMs ?? -Infinity));
  const untilMs = firstMs + firstRetryWithinMs;
  while (time.now() < untilMs && !before.every(hasRetried)) await time.sleep(realStepMs);
  return before.some(hasRetried);
}

/** Minimum advance before a retry that proves that the sender follows the test clock. */
const minFollowedAdvanceMs = deliveryPolicy.retryDelaysMs[1] - allowedEarlyMs(deliveryPolicy.retryDelaysMs[1]);
const realStepMs = 2000;

interface DelayBases {
  readonly first: number;
  readonly previous: number;
}

/** Returns the clock offsets of the attempts from which the next retry delay may be counted. */
const delayBases = (order: DelayOrder | null, { first, previous }: DelayBases): number[] =>
  order === null ? [first, previous] : [order === "from-first" ? first : previous];

/** Returns whether delays count from the first or the previous attempt; `null` if the time does not show it. */
function observedOrder(
  attempt: number | undefined,
  { first, previous, delayMs }: DelayBases & { readonly delayMs: number },
): DelayOrder | null {
  const isExpected = (base: number): boolean =>
    attempt !== undefined &&
    attempt >= base + delayMs - allowedEarlyMs(delayMs) &&
    attempt <= base + delayMs + allowedLateMs(delayMs);
  const [byFirst, byPrevious] = [isExpected(first), isExpected(previous)];
  if (byFirst === byPrevious) return null;
  return byFirst ? "from-first" : "from-previous";
}

/** Extra advance in ms at the end of the schedule, because a test clock may stand still during the probe. */
const endMarginMs = 60_000;
/** Distance from an attempt's allowed span at which to stop the test clock, which may move in real time. */
const stopDistanceMs = (delayMs: number): number => Math.max(1500, allowedEarlyMs(delayMs) / 2);
const timerLagMs = 1000;
/** Real time to wait for an attempt that is due, as a multiple of `settleMs`. */
const dueSettles = 4;
/** Real time to wait while no attempt is due, as a multiple of the longest real delay of an attempt so far. */
const queueTimeFactor = 3;

/** Returns the real time to wait for a sender that polls its queue; 0 for one that uses timers. */
const pollTimeMs = (queuedMs: number, { settleMs }: RunClock): number =>
  queuedMs > 0 ? Math.max(dueSettles * settleMs, queueTimeFactor * queuedMs) : 0;

/** Real time for the first retry to arrive, from which the later waits follow. */
const firstRetryMs = 600;

/** An advance while an attempt is being sent can exceed the sender's timeout. */
const dueTimeMs = (index: number, queuedMs: number, time: RunClock): number =>
  time.settleMs === 0
    ? 0
    : Math.max(dueSettles * time.settleMs, pollTimeMs(queuedMs, time), index === 1 ? firstRetryMs : 0);

const clockOffsetOf = (address: Hook, at: number): number | undefined => address.deliveries().at(at)?.clockAtMostMs;
