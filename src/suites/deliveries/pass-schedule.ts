import { randomUUID } from "node:crypto";

import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Hook, Receiver } from "../../receiver/receiver.ts";
import type { Client } from "../../run/send/client.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { deliveryPolicy } from "../../spec/events.ts";
import { awaitDeliveries, deliveryTimeoutMs, type ExpectedDeliveries } from "../webhooks/await-deliveries.ts";
import { type OpenedWebhook, webhookIdOf, webhookPath } from "../webhooks/create-webhook.ts";
import { isToWebhook } from "./events.ts";
import { advance } from "./held-replies.ts";
import {
  allowedEarlyMs,
  allowedLateMs,
  type DelayOrder,
  firstRetryWithinMs,
  maxPauseMs,
  type TimeSpan,
} from "./retry-schedule.ts";

/** The retries up to the end of the schedule, caused by advances of the target's clock. */
export interface CompletedRetries {
  readonly deliveries: readonly Delivery[];
  /** The advances of the target's clock: for each, how far the clock had been moved before and after. */
  readonly moves: readonly TimeSpan[];
  /** The clock offset at the end. */
  readonly untilMs: number;
  /**
   * The target's list of deliveries for the webhook that always failed. `shown` is the record of that webhook. Both are
   * `null` if its id is unknown.
   */
  readonly listed: Exchange | null;
  readonly shown: Exchange | null;
  /** One more invoke after the end, and how many deliveries the webhook that always failed got for it. */
  readonly again: { readonly invoked: Exchange; readonly came: number };
}

interface ScheduleContext {
  readonly client: Client;
  readonly receiver: Receiver;
  readonly time: RunClock;
  readonly failing: OpenedWebhook;
  readonly agent: string;
  readonly moves: TimeSpan[];
  /** Whether the first deliveries arrived, so that it makes sense to wait for retries. */
  readonly isAwaited: boolean;
  /** The receivers whose first reply is a failure. */
  readonly failingHooks: readonly Hook[];
}

/**
 * Advances the clock past the whole schedule. Each reading of the schedule has its own times for attempts, so stops
 * before and after each of these. Returns `null` if the retries come in real time, because the clock then proves
 * nothing.
 */
export async function passSchedule(context: ScheduleContext): Promise<CompletedRetries | null> {
  const { client, receiver, time, failing, agent, moves } = context;
  const { address } = failing;
  const first = clockOffsetOf(address, 0) ?? time.clockOffsetMs();
  let { isAwaited } = context;
  let order: DelayOrder | null = null;
  let queuedMs = 0;
  for (const [index, delayMs] of deliveryPolicy.retryDelaysMs.entries()) {
    const previous = clockOffsetOf(address, -1) ?? first;
    const bases = new Set(basesOf(order, { first, previous }));
    const due = [...bases].map((base) => base + delayMs + timerLagMs);
    const around = [...bases].flatMap((base) => [
      base + delayMs - allowedEarlyMs(delayMs) - marginMs(delayMs),
      base + delayMs + allowedLateMs(delayMs) + marginMs(delayMs),
    ]);
    const before = address.deliveries().length;
    let dueMs = time.now();
    for (const instant of [...due, ...around].toSorted((one, other) => one - other)) {
      await advanceTo(instant, time, moves);
      const isDue = due.includes(instant);
      if (isDue) dueMs = time.now();
      // A sender that polls its queue in real time needs some real time before the clock advances again.
      if (isAwaited)
        await address.waitForDeliveries(before + 1, isDue ? dueSettles * time.settleMs : pollTimeMs(queuedMs, time));
    }
    // Every reading of the schedule except the shortest has this attempt by now.
    if (isAwaited && index > 0) isAwaited = await address.waitForDeliveries(index + 1, deliveryTimeoutMs(time));
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

async function advanceTo(instant: number, time: RunClock, moves: TimeSpan[]): Promise<void> {
  if (instant <= time.clockOffsetMs()) return;
  await advance(time, instant - time.clockOffsetMs(), moves);
  if (time.settleMs > 0) await time.sleepReal(time.settleMs);
}

/**
 * Whether the sender retries in real time, as a worker that sleeps between attempts does. If no retry followed the clock, waits for a retry in real
 * time, unless the target file promises that agents follow the clock. Also returns `true` if a retry may be due by either clock, because the advances
 * took long.
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
  if (retries.some(({ clockMs, realMs }) => clockMs >= minFollowedMs && realMs < minFollowedMs)) return false;
  if (retries.some(({ realMs }) => realMs >= minFollowedMs)) return true;
  const before = failingHooks.map((address) => ({ address, count: address.deliveries().length }));
  const hasRetried = ({ address, count }: ExpectedDeliveries): boolean => address.deliveries().length > count;
  const firstMs = Math.max(...failingHooks.map((address) => address.deliveries()[0]?.receivedMs ?? -Infinity));
  const untilMs = firstMs + firstRetryWithinMs;
  while (time.now() < untilMs && !before.every(hasRetried)) await time.sleep(realStepMs);
  return before.some(hasRetried);
}

/** The smallest delay, by the clock, of a retry that follows the clock and is not immediate. */
const minFollowedMs = deliveryPolicy.retryDelaysMs[1] - allowedEarlyMs(deliveryPolicy.retryDelaysMs[1]);
const realStepMs = 2000;

/** Clock offsets of the first and the previous attempt. */
interface DelayBases {
  readonly first: number;
  readonly previous: number;
}

/**
 * The clock offsets from which the next delay may count. There are two while it is unknown whether delays count from the first or from the previous
 * attempt.
 */
const basesOf = (order: DelayOrder | null, { first, previous }: DelayBases): number[] =>
  order === null ? [first, previous] : [order === "from-first" ? first : previous];

/** The order that explains when an attempt came; `null` if both orders or neither explain it, or if no attempt came. */
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

/** Margin at the end of the schedule, because real time may also pass for the target. */
const endMarginMs = 60_000;
/** Distance between a stop and the time at which an attempt is due. It covers real time that may also pass for the target. */
const marginMs = (delayMs: number): number => Math.max(1500, allowedEarlyMs(delayMs) / 2);
/** A sender with timers has made a due attempt within this time. */
const timerLagMs = 1000;
/** How long to wait for an attempt that is due, as a multiple of the settle time. */
const dueSettles = 4;
/** How long to wait for an attempt that would be early, as a multiple of the sender's longest queue delay so far. */
const earlyPolls = 3;

/** How long to wait for a sender that polls its queue, from the longest delay so far; 0 if it has timers instead. */
const pollTimeMs = (queuedMs: number, { settleMs }: RunClock): number =>
  queuedMs > 0 ? Math.max(dueSettles * settleMs, earlyPolls * queuedMs) : 0;

/** The clock offset when the n-th attempt arrived. */
const clockOffsetOf = (address: Hook, at: number): number | undefined => address.deliveries().at(at)?.clockAtMostMs;
