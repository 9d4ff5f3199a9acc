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
import { advance } from "./held-replies.ts";
import {
  allowedEarlyMs,
  allowedLateMs,
  type DelayOrder,
  firstRetryWithinMs,
  maxPauseMs,
  type TimeSpan,
} from "./retry-schedule.ts";

/** Evidence of the retries up to the end of the schedule, which the run reached by advancing the test clock. */
export interface CompletedRetries {
  readonly deliveries: readonly Delivery[];
  /** The advances of the test clock: for each, how far the clock had been advanced before and after. */
  readonly moves: readonly TimeSpan[];
  /** How far the test clock had been advanced at the end. */
  readonly untilMs: number;
  /**
   * The target's list of deliveries to the webhook whose receiver always fails, and the record of that webhook
   * (`shown`). Both are `null` if the webhook's id is unknown.
   */
  readonly listed: Exchange | null;
  readonly shown: Exchange | null;
  /** One more invoke after the end, and the number of deliveries that the failing webhook got for it. */
  readonly again: { readonly invoked: Exchange; readonly came: number };
}

interface ScheduleContext {
  readonly client: Client;
  readonly receiver: Receiver;
  readonly time: RunClock;
  readonly failing: OpenedWebhook;
  readonly agent: string;
  readonly moves: TimeSpan[];
  /** Whether to wait for retries. There is no point in waiting if the first deliveries have not arrived. */
  readonly isAwaited: boolean;
  /** The receivers whose first reply reports a failure. */
  readonly failingHooks: readonly Hook[];
}

/**
 * Advances the test clock past the whole schedule. Each reading of the schedule expects an attempt at its own times, so
 * the clock stops before and after each of these times.
 *
 * Returns `null` if the retries come in real time, because the advances then prove nothing.
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
      // A sender that polls its queue in real time needs some real time before the next advance.
      if (isAwaited)
        await awaitArrivals(address, before + 1, isDue ? dueSettles * time.settleMs : pollTimeMs(queuedMs, time));
    }
    // At this time, every reading of the schedule except the shortest expects this attempt.
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

/**
 * Waits in real time until a webhook has this many deliveries. Returns whether they arrived. The wait consists of short
 * steps: a step that a busy machine prolongs counts as a short one, because the sender may have stood still, too.
 */
async function awaitArrivals(address: Hook, count: number, realMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < realMs; waitedMs += arrivalStepMs)
    if (await address.waitForDeliveries(count, Math.min(arrivalStepMs, realMs - waitedMs))) return true;
  return address.waitForDeliveries(count, 0);
}

const arrivalStepMs = 20;

/** How long to wait for an attempt that is overdue by the test clock. A sender may poll its queue in real time. */
function overdueMs(time: RunClock): number {
  if (time.settleMs === 0) return deliveryTimeoutMs(time);
  return time.agentsFollow ? Math.max(minOverdueMs, deliveryTimeoutMs(time)) : maxQueuedMs;
}

/**
 * Minimum wait for an overdue attempt. On a busy machine, a connection may take more than a second: the system repeats
 * a lost packet only then.
 */
const minOverdueMs = 2000;

async function advanceTo(instant: number, time: RunClock, moves: TimeSpan[]): Promise<void> {
  if (instant <= time.clockOffsetMs()) return;
  await advance(time, instant - time.clockOffsetMs(), moves);
  if (time.settleMs > 0) await time.sleepReal(time.settleMs);
}

/**
 * Whether the sender retries in real time, such as a worker that sleeps between attempts. If no retry has followed the
 * test clock, waits for a retry in real time, unless the target file promises that agents follow the clock.
 *
 * Also returns `true` if the advances took so long that a retry was due by real time as well.
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

/**
 * A retry after at least this advance of the clock shows that the sender follows the clock. An immediate retry does not
 * show that, so the bound is longer.
 */
const minFollowedMs = deliveryPolicy.retryDelaysMs[1] - allowedEarlyMs(deliveryPolicy.retryDelaysMs[1]);
const realStepMs = 2000;

/** Positions of the test clock at the first and at the previous attempt. */
interface DelayBases {
  readonly first: number;
  readonly previous: number;
}

/**
 * Returns the positions of the test clock from which the next delay may count. Returns both while it is unknown whether
 * delays count from the first or from the previous attempt.
 */
const basesOf = (order: DelayOrder | null, { first, previous }: DelayBases): number[] =>
  order === null ? [first, previous] : [order === "from-first" ? first : previous];

/**
 * Returns whether delays count from the first or the previous attempt, according to one attempt's time. `null` if both
 * or neither explain that time, or the attempt did not come.
 */
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

/** Time to add at the end of the schedule, because the target may count real time as well. */
const endMarginMs = 60_000;
/**
 * Time between a stop of the clock and the moment at which an attempt is due. The target may also count the real time
 * that passes in between.
 */
const marginMs = (delayMs: number): number => Math.max(1500, allowedEarlyMs(delayMs) / 2);
/** Time within which a sender that uses timers has made a due attempt. */
const timerLagMs = 1000;
/** Real time to wait for an attempt that is due, as a multiple of `settleMs`. */
const dueSettles = 4;
/** Real time to wait for an attempt that would be too early, as a multiple of the sender's longest delay so far. */
const earlyPolls = 3;

/**
 * Returns how long to wait for a sender that polls its queue, based on its longest delay so far. Returns 0 for a sender
 * that uses timers.
 */
const pollTimeMs = (queuedMs: number, { settleMs }: RunClock): number =>
  queuedMs > 0 ? Math.max(dueSettles * settleMs, earlyPolls * queuedMs) : 0;

/** Returns how far the test clock had been advanced when the n-th attempt arrived. */
const clockOffsetOf = (address: Hook, at: number): number | undefined => address.deliveries().at(at)?.clockAtMostMs;
