import { monitorEventLoopDelay } from "node:perf_hooks";

import type { RunClock } from "../../run/time/run-clock.ts";
import { deliveryPolicy } from "../../spec/events-and-errors.ts";
import { awaitDeliveries, awaitUnexpected, type OpenedWebhook, queueStepMs } from "../webhooks/create-webhook.ts";
import type { TimeSpan } from "./retry-schedule.ts";

// Functions that withhold replies to deliveries. Some senders wait for a reply before they send the next delivery.

/**
 * Withholds the reply to the first delivery for `ms`, but replies at once if the run cannot wait that long. Returns the
 * actual delay by the target's clock; `null` if no delivery arrived.
 * @param moves collects the advances of the test clock
 * @param unanswered webhooks whose first delivery has no reply: waits until their senders hang up, about 3 s at most
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
  const advancing = leftMs > 0 && time.canWait(leftMs) ? advanceClock(time, leftMs, moves) : Promise.resolve();
  await (time.settleMs > 0 ? Promise.race([advancing, time.sleepReal(blockedAdvanceMs)]) : advancing);
  if (time.settleMs > 0) await time.sleepReal(time.settleMs);
  await awaitHangUp(unanswered, time);
  const clockMs = time.maxClockOffsetMs();
  address.release();
  await advancing;
  // Gives the reply time to reach the sender before the test clock advances again.
  await awaitUnexpected(time);
  const reply = address.deliveries()[0]?.reply;
  const repliedMs = reply?.kind === "answered" ? reply.endMs : time.now();
  return sinceMs === null ? null : repliedMs + clockMs - sinceMs;
}

export function startDelayMeter() {
  const delays = monitorEventLoopDelay({ resolution: delayResolutionMs });
  delays.enable();
  return delays;
}

const delayResolutionMs = 10;

interface Holding {
  readonly time: RunClock;
  readonly moves: TimeSpan[];
  readonly invokedClockMs: number;
  /** Measures delays of the event loop, from just before the invoke. */
  readonly delays: ReturnType<typeof startDelayMeter>;
}

/**
 * Like {@link replyAfter}, but returns the maximum time that the sender can have waited for the reply. Adds the longest
 * delay of the event loop, and advances of the test clock while the delivery was on its way.
 */
export async function replyInTime(
  ms: number,
  opened: OpenedWebhook,
  { time, moves, invokedClockMs, delays }: Holding,
): Promise<number | null> {
  const heldForMs = await replyAfter(ms, opened, time, moves);
  const delayMs = Math.max(0, delays.max / 1e6 - delayResolutionMs);
  const [first] = opened.address.deliveries();
  if (heldForMs === null || first === undefined) return null;
  const advancedMs = first.clockMs - invokedClockMs;
  // Assumes that at most one advance (`queueStepMs`) happened while the delivery was on its way. On a busy machine, all
  // advances since the invoke may have happened then.
  return heldForMs + delayMs + (delayMs > busyDelayMs ? advancedMs : Math.min(advancedMs, queueStepMs));
}

const busyDelayMs = 200;
/**
 * Maximum real time to wait for an advance of the test clock. Some targets finish an advance only after the receiver
 * has replied to all deliveries.
 */
const blockedAdvanceMs = 500;

async function awaitHangUp(opened: readonly OpenedWebhook[], { settleMs, sleepReal }: RunClock): Promise<void> {
  const maxMs = settleMs === 0 ? 0 : deliveryPolicy.responseTimeoutMs + settleMs;
  const untilMs = performance.now() + maxMs;
  while (opened.some(isUnanswered) && performance.now() < untilMs) await sleepReal(pollMs);
}

const pollMs = 10;

function isUnanswered({ address }: OpenedWebhook): boolean {
  const reply = address.deliveries()[0]?.reply;
  return reply?.kind === "held" || (reply?.kind === "silent" && reply.leftMs === null);
}

export async function awaitFirstDeliveries(
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

export async function awaitFreeSender(
  created: readonly OpenedWebhook[],
  unanswered: readonly OpenedWebhook[],
  time: RunClock,
): Promise<boolean> {
  if (time.canAdvance && time.settleMs === 0) return true;
  const isFree = (): boolean => !unanswered.some(isUnanswered) || sendsConcurrently(created, unanswered);
  const untilMs = time.now() + maxBlockedMs;
  // Another delivery without a reply can block a free sender again. Therefore, the sender must stay free for
  // `settleMs`.
  for (let idleMs = 0; idleMs <= time.settleMs && time.now() < untilMs; idleMs = isFree() ? idleMs + stepMs : 0)
    await time.sleep(stepMs);
  return isFree();
}

/** Maximum time to wait for a sender that is blocked first by the receiver `late`, then by `silent`, e.g. 10 s each. */
const maxBlockedMs = 20_000;
const stepMs = 50;

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

export async function advanceClock(time: RunClock, ms: number, moves: TimeSpan[]): Promise<void> {
  const fromMs = time.clockOffsetMs();
  await time.passTime(ms, "an attempt of a webhook's delivery");
  if (time.canAdvance) moves.push({ fromMs, toMs: time.clockOffsetMs() });
}
