import { randomUUID } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";

import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { deliveryPolicy } from "../../spec/events.ts";
import type { RequirementSet } from "../../spec/requirements.ts";
import type { Hook, Receiver, Reply } from "../../receiver/receiver.ts";
import type { Client } from "../../run/send/client.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import {
  allowedEarlyMs,
  firstRetryWithinMs,
  allowedLateMs,
  maxPauseMs,
  type TimeSpan,
  type DelayOrder,
} from "./retry-schedule.ts";
import { isSuccess } from "../shared/response.ts";
import { agentWithoutWebhooks } from "../webhooks/idle-agents.ts";
import { isToWebhook, redirectedHook } from "./events.ts";
import { maxBody } from "../invoke/probes.ts";
import {
  agentIdOf,
  type RequestedWebhook,
  requestedWebhookOf,
  createWebhook,
  hookPrefix,
  type OpenedWebhook,
  provenReachOf,
  type Reach,
  webhookIdOf,
  webhookPath,
} from "../webhooks/create-webhook.ts";
import {
  awaitDeliveries,
  type ExpectedDeliveries,
  deliveryTimeoutMs,
  awaitUnexpected,
} from "../webhooks/await-deliveries.ts";

const status = (code: number) => ({ kind: "status", status: code }) as const satisfies Reply;

const ownHeaders = [
  ["Retry-After", "120"],
  ["Location", "/elsewhere"],
  ["Set-Cookie", "receiver=conformance"],
  ["X-Request-Id", "receiver-1"],
] as const;

/**
 * The replies of each receiver, attempt by attempt. Only `late` and `silent` let the sender wait for its timeout.
 * Their webhooks are created last: a sender of one delivery at a time then sends to all others first.
 */
const scripts = {
  /** Fails more often than any reading of the schedule retries, even if the sender makes each attempt twice. */
  failing: [...Array.from({ length: 14 }, () => status(500)), status(204)],
  recovering: [status(500), status(500), status(204)],
  notFound: [status(404), status(204)],
  gone: [status(410), status(204)],
  /** A 2xx that has no name. The sender gets it for every attempt. */
  unnamedSuccess: Array.from({ length: 14 }, () => status(299)),
  /** A success with headers that mean something for other responses. */
  ownHeaders: Array.from({ length: 14 }, () => ({ ...status(200), headers: ownHeaders })),
  redirecting: [status(302), status(204)],
  resetting: [{ kind: "reset" }, status(204)],
  /** The receiver verifies signatures with another secret than the target's, so the first attempt gets 401. */
  mismatched: [{ kind: "verify" }, status(204)],
  /** Answers 200 late, but within the sender's timeout. */
  held: [{ kind: "held", status: 200 }, status(204)],
  endless: [{ kind: "endless", status: 200 }, status(204)],
  /** Answers 200 after the sender's timeout. */
  late: [{ kind: "held", status: 200 }, status(204)],
  silent: [{ kind: "silence" }, status(204)],
} as const satisfies Readonly<Record<string, readonly Reply[]>>;

export type ReceiverScript = keyof typeof scripts;
export const receiverScripts = Object.keys(scripts) as ReceiverScript[];

/** The scripts that no check of requirement set 1.0 judges. */
const laterScripts: readonly ReceiverScript[] = ["gone", "unnamedSuccess", "ownHeaders"];

/** The scripts whose first reply is a failure, so that the sender must retry. */
export const scriptsFailingFirst = receiverScripts.filter(
  (name) => !["unnamedSuccess", "ownHeaders", "late", "held", "endless"].includes(name),
);

export const hookOfScript = (script: ReceiverScript): string => `${hookPrefix}${script}`;

/** Webhooks whose receivers fail, and the deliveries of the retry schedule if the run can advance the clock. */
export interface FailingReceivers {
  readonly reach: Reach;
  /** `null` for a webhook that was not requested, because the key has few requests. Older evidence lacks some. */
  readonly webhooks: Readonly<Partial<Record<ReceiverScript, RequestedWebhook | null>>>;
  readonly invoked: Exchange;
  /** How long the two held deliveries waited for the reply, in milliseconds on the target's clock; `null` if no delivery arrived. */
  readonly heldForMs: { readonly held: number | null; readonly late: number | null };
  /** The retries that followed the advanced clock; `null` without a test clock, or if the sender's retries do not follow the clock. */
  readonly passed: CompletedRetries | null;
  /** Periods in which no receiver listened, in milliseconds since the start of the run. */
  readonly unwatched: readonly TimeSpan[];
}

/** The retries up to the end of the schedule, caused by advances of the target's clock. */
export interface CompletedRetries {
  readonly deliveries: readonly Delivery[];
  /** Advances of the target's clock, as spans of its offset. */
  readonly moves: readonly TimeSpan[];
  /** The clock offset at the end. */
  readonly untilMs: number;
  /**
   * The target's list of deliveries for the webhook that always failed. `shown` is the record of that webhook. Both are
   * `null` if its id is unknown.
   */
  readonly listed: Exchange | null;
  readonly shown: Exchange | null;
  /** One more invoke after the end, and how many deliveries it brought to the webhook that always failed. */
  readonly again: { readonly invoked: Exchange; readonly came: number };
}

/** The scripts for a key with few requests: a failure and a rejected signature. */
const scriptsForFewRequests = ["failing", "mismatched"] as const satisfies readonly ReceiverScript[];

export const failingReceivers = probe(
  "an agent is invoked whose webhooks' receivers fail in many ways, and the retries are awaited",
  {
    needs: ["receiver", "agents.answering"],
    requests: (target) => (hasFewRequests(target) ? scriptsForFewRequests.length + 1 : 17),
    waits: {
      mode: "optional",
      seconds: (target) => (hasFewRequests(target) ? 0 : (2 * deliveryPolicy.responseTimeoutMs) / 1000),
    },
    stage: "exclusive",
    isJudgedLater: true,
    creates: { webhooks: 13 },
    createsFew: { webhooks: scriptsForFewRequests.length },
  },
  async (context): Promise<FailingReceivers> => {
    const { client, given, target, time } = context;
    const { receiver } = given;
    const reach = await provenReachOf(receiver, target);
    const agent = (await agentWithoutWebhooks(context)) ?? agentIdOf({ target });
    const isLimited = hasFewRequests(target);
    const opened = await openWebhooks(
      { client, receiver, time },
      agent,
      isLimited ? scriptsForFewRequests : receiverScripts,
    );
    const query = isLimited ? maxBody : { query: `Hello. ${randomUUID()}` };
    const invoked = await client.invoke(agent, query, { noRetry: true });
    const created = Object.values(opened).filter(({ exchange }) => isSuccess(exchange));
    const moves: TimeSpan[] = [];
    const { held, late, silent, failing } = opened;
    const unanswered = [late, silent].filter((each) => each !== undefined);
    const arrive = async (webhooks: readonly OpenedWebhook[]): Promise<boolean> =>
      isSuccess(invoked) && (await awaitFirst(webhooks, unanswered, time));
    const isHeld = held !== undefined && (await arrive(created.filter((each) => each === held)));
    const heldMs = held === undefined ? null : await replyInTime(slowReplyMs, held, time, moves);
    const haveArrived = (isHeld || held === undefined) && (await arrive(created));
    const lateMs =
      late === undefined || silent === undefined
        ? null
        : await replyAfter(lateReplyMs, late, time, moves, [late, silent]);
    const isFree = await awaitFreeSender(created, unanswered, time);
    const passed =
      time.canAdvance && failing !== undefined && isFree
        ? await passSchedule({ client, time, failing, agent, receiver, moves, isAwaited: haveArrived, opened })
        : null;
    const heldForMs = { held: heldMs, late: lateMs };
    const webhooks = Object.fromEntries(
      receiverScripts.map((name) => {
        const webhook = opened[name];
        return [name, webhook === undefined ? null : requestedWebhookOf(webhook)];
      }),
    ) as Record<ReceiverScript, RequestedWebhook | null>;
    return { reach, webhooks, invoked, heldForMs, passed, unwatched: [] };
  },
);

const withHooksSince = (receiver: Receiver, since: RequirementSet): Receiver => ({
  ...receiver,
  open: (name, plan) => receiver.open(name, { ...plan, since }),
});

async function openWebhooks(
  { client, receiver, time }: Pick<ScheduleContext, "client" | "receiver" | "time">,
  agent: string,
  names: readonly ReceiverScript[],
): Promise<Partial<Record<ReceiverScript, OpenedWebhook>>> {
  const redirected = receiver.open(redirectedHook, { secret: null, replies: [status(204)], takesReads: true });
  const redirect: Reply = { kind: "status", status: 302, headers: [["Location", redirected.url]] };
  // On a real clock, events of later invokes would use up the failures of the script.
  const failing = time.canAdvance ? scripts.failing : [status(500)];
  const replies = { ...scripts, failing, redirecting: [redirect, status(204)] };
  const opened: Partial<Record<ReceiverScript, OpenedWebhook>> = {};
  for (const name of names) {
    const isMismatched = name === "mismatched";
    const options = { name, events: ["agent.completed"], agent, isSigned: true, replies: replies[name], isMismatched };
    opened[name] = laterScripts.includes(name)
      ? await createWebhook(client.since("1.1"), withHooksSince(receiver, "1.1"), options)
      : await createWebhook(client, receiver, options);
  }
  return opened;
}

/**
 * Delays of two replies. `slowReplyMs` is well within the sender's timeout, even if the sender polls its queue.
 * `lateReplyMs` is well beyond that timeout.
 */
const slowReplyMs = 1500;
const lateReplyMs = 2 * deliveryPolicy.responseTimeoutMs;

/**
 * Replies to the held delivery of a webhook. Returns how long the delivery was held, or `null` if none has arrived.
 *
 * @param ms time on the target's clock between the arrival and the reply
 * @param unanswered webhooks whose deliveries the sender must give up before the reply
 */
async function replyAfter(
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
  // A sender whose timeout follows the test clock now hangs up. It needs a little real time to do so.
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
async function replyInTime(
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
 * How long to wait for an advance of the clock before the receiver replies. A target may complete the advance only
 * after its deliveries have ended, so waiting for longer would block both.
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

/** Whether the sender still waits for the reply to the first delivery. */
function isUnanswered({ address }: OpenedWebhook): boolean {
  const reply = address.deliveries()[0]?.reply;
  return reply?.kind === "held" || (reply?.kind === "silent" && reply.leftMs === null);
}

/** Waits for the first delivery of each webhook, also from a sender that is blocked by unanswered deliveries. */
async function awaitFirst(
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
async function awaitFreeSender(
  created: readonly OpenedWebhook[],
  unanswered: readonly OpenedWebhook[],
  time: RunClock,
): Promise<boolean> {
  if (time.canAdvance && time.settleMs === 0) return true;
  const isFree = (): boolean => !unanswered.some(isUnanswered) || sendsConcurrently(created, unanswered);
  const untilMs = time.now() + maxBlockedMs;
  // The next unanswered delivery may follow at once.
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

/** Advances the target's clock and records it in `moves`. */
async function advance(time: RunClock, ms: number, moves: TimeSpan[]): Promise<void> {
  const fromMs = time.clockOffsetMs();
  await time.passTime(ms, "an attempt of a webhook's delivery");
  if (time.canAdvance) moves.push({ fromMs, toMs: time.clockOffsetMs() });
}

async function advanceTo(instant: number, time: RunClock, moves: TimeSpan[]): Promise<void> {
  if (instant <= time.clockOffsetMs()) return;
  await advance(time, instant - time.clockOffsetMs(), moves);
  if (time.settleMs > 0) await time.sleepReal(time.settleMs);
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
  readonly opened: Partial<Record<ReceiverScript, OpenedWebhook>>;
}

/**
 * Advances the clock past the whole schedule. Stops before and after each instant at which some reading of the schedule
 * has an attempt. Returns `null` if the retries come in real time, as the clock then proves nothing.
 */
async function passSchedule(context: ScheduleContext): Promise<CompletedRetries | null> {
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
    // By now this attempt is due in every reading except the shortest.
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

/**
 * Whether the sender retries in real time, as a worker that sleeps between attempts does. If no retry followed the clock, waits for a retry in real
 * time, unless the target file promises that agents follow the clock. Also returns `true` if a retry may be due by either clock, because the advances
 * took long.
 */
async function retriesUseRealTime({ opened, time, isAwaited }: ScheduleContext): Promise<boolean> {
  if (!isAwaited || time.agentsFollow || time.settleMs === 0) return false;
  const failing = scriptsFailingFirst.flatMap((script) => opened[script] ?? []).map(({ address }) => address);
  const retries = failing.flatMap((address) => {
    const [first, ...others] = address.deliveries();
    return others.map(({ clockMs, receivedMs }) => ({
      clockMs: clockMs - (first?.clockMs ?? 0),
      realMs: receivedMs - (first?.receivedMs ?? 0),
    }));
  });
  if (retries.some(({ clockMs, realMs }) => clockMs >= minFollowedMs && realMs < minFollowedMs)) return false;
  if (retries.some(({ realMs }) => realMs >= minFollowedMs)) return true;
  const before = failing.map((address) => ({ address, count: address.deliveries().length }));
  const hasRetried = ({ address, count }: ExpectedDeliveries): boolean => address.deliveries().length > count;
  const firstMs = Math.max(...failing.map((address) => address.deliveries()[0]?.receivedMs ?? -Infinity));
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

/** The clock offsets from which the next delay may count: two while the order is unknown, else one. */
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
/** Time after which a sender with timers has certainly made an attempt that is due. */
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
