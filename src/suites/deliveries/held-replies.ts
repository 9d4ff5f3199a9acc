import { monitorEventLoopDelay } from "node:perf_hooks";

import type { RunClock } from "../../run/time/run-clock.ts";
import { deliveryPolicy } from "../../spec/events.ts";
import { awaitDeliveries, awaitUnexpected } from "../webhooks/await-deliveries.ts";
import type { OpenedWebhook } from "../webhooks/create-webhook.ts";
import type { TimeSpan } from "./retry-schedule.ts";

// Handles replies that a receiver withholds on purpose. They block a sender that makes one delivery at a time.

/**
 * Replies to the held delivery of a webhook. Returns how long the delivery was held, or `null` if none has arrived.
 *
 * @param ms time on the target's clock between the arrival and the reply
 * @param unanswered webhooks whose deliveries the sender must give up before the reply
 */
export async function replyAfter(
  ms: number,
  { address }: OpenedWebhook,
  time: RunClock,
  moves: TimeSpan[],
  unanswered: readonly OpenedWebhook[] = [],
): Promise<number | null> {
  const [first] = address.deliveries();
  const sinceMs = first === undefined ? null : first.clockMs + first.receivedMs;
  const leftMs = sinceMs === null ? 0 : sinceMs + ms - time.targetMs();
  const advancing = leftMs > 0 && time.canWait(leftMs) ? advance(time, leftMs, moves) : Promise.resolve();
  await (time.settleMs > 0 ? Promise.race([advancing, time.sleepReal(blockedAdvanceMs)]) : advancing);
  // A sender whose timeout follows the test clock disconnects now. It needs a little real time for that.
  if (time.settleMs > 0) await time.sleepReal(time.settleMs);
  await awaitHangUp(unanswered, time);
  const clockMs = time.maxClockOffsetMs();
  address.release();
  await advancing;
  // The reply has to arrive before the target's clock advances again.
  await awaitUnexpected(time);
  const reply = address.deliveries()[0]?.reply;
  const repliedMs = reply?.kind === "answered" ? reply.endMs : time.now();
  return sinceMs === null ? null : repliedMs + clockMs - sinceMs;
}

/** Like {@link replyAfter}, but adds the delay of this process's event loop, because the delivery may have been recorded late. */
export async function replyInTime(
  ms: number,
  opened: OpenedWebhook,
  time: RunClock,
  moves: TimeSpan[],
): Promise<number | null> {
  const delays = monitorEventLoopDelay({ resolution: delayResolutionMs });
  delays.enable();
  const heldForMs = await replyAfter(ms, opened, time, moves);
  delays.disable();
  const delayMs = Math.max(0, delays.max / 1e6 - delayResolutionMs);
  return heldForMs === null ? null : heldForMs + delayMs;
}

const delayResolutionMs = 10;
/**
 * How long to wait for an advance of the clock before the receiver replies. Some targets complete an advance only after
 * their deliveries, so both would wait for each other.
 */
const blockedAdvanceMs = 500;

/**
 * Waits until the sender has given up deliveries without a reply. The sender's timers need some real time after an
 * advance of the clock, or do not follow that clock at all. Until the sender gives up, it may not send other
 * deliveries.
 */
async function awaitHangUp(opened: readonly OpenedWebhook[], { settleMs, sleepReal }: RunClock): Promise<void> {
  const maxMs = settleMs === 0 ? 0 : deliveryPolicy.responseTimeoutMs + settleMs;
  const untilMs = performance.now() + maxMs;
  while (opened.some(isUnanswered) && performance.now() < untilMs) await sleepReal(pollMs);
}

const pollMs = 10;

/** Whether the sender still waits for the reply to the webhook's first delivery. */
function isUnanswered({ address }: OpenedWebhook): boolean {
  const reply = address.deliveries()[0]?.reply;
  return reply?.kind === "held" || (reply?.kind === "silent" && reply.leftMs === null);
}

/** Waits for the first delivery of each webhook, also from a sender that is blocked by unanswered deliveries. */
export async function awaitFirst(
  wanted: readonly OpenedWebhook[],
  unanswered: readonly OpenedWebhook[],
  time: RunClock,
): Promise<boolean> {
  const expected = wanted.map(({ address }) => ({ address, count: 1 }));
  if (await awaitDeliveries(expected, time)) return true;
  if (!unanswered.some(isUnanswered)) return false;
  await awaitFreeSender(wanted, unanswered, time);
  return awaitDeliveries(expected, time);
}

/**
 * Waits until the sender can send: a sender of one delivery at a time has to give up the unanswered ones first. Its
 * timeout may use real time. Returns whether it can send.
 */
export async function awaitFreeSender(
  created: readonly OpenedWebhook[],
  unanswered: readonly OpenedWebhook[],
  time: RunClock,
): Promise<boolean> {
  if (time.canAdvance && time.settleMs === 0) return true;
  const isFree = (): boolean => !unanswered.some(isUnanswered) || sendsConcurrently(created, unanswered);
  const untilMs = time.now() + maxBlockedMs;
  // The next delivery without a reply may follow at once.
  for (let idleMs = 0; idleMs <= time.settleMs && time.now() < untilMs; idleMs = isFree() ? idleMs + stepMs : 0)
    await time.sleep(stepMs);
  return isFree();
}

/** Longest wait for a sender that gives up two deliveries, one after the other. */
const maxBlockedMs = 20_000;
const stepMs = 50;

/** Whether the sender has sent a delivery while it waited for the reply to another one. */
function sendsConcurrently(created: readonly OpenedWebhook[], unanswered: readonly OpenedWebhook[]): boolean {
  const arrivedMs = created.map(({ address }) => address.deliveries()[0]?.receivedMs ?? 0);
  return unanswered.some(({ address }) => {
    const first = address.deliveries()[0];
    if (first === undefined) return false;
    const { receivedMs, reply } = first;
    const endMs = reply.kind === "answered" ? reply.endMs : reply.kind === "silent" ? reply.leftMs : null;
    return arrivedMs.some((ms) => ms > receivedMs && ms < (endMs ?? Infinity));
  });
}

/** Advances the target's clock, and adds the advance to `moves`. */
export async function advance(time: RunClock, ms: number, moves: TimeSpan[]): Promise<void> {
  const fromMs = time.clockOffsetMs();
  await time.passTime(ms, "an attempt of a webhook's delivery");
  if (time.canAdvance) moves.push({ fromMs, toMs: time.clockOffsetMs() });
}
