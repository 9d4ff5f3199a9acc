import { randomUUID } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";

import type { Delivery, DeliveryReply } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { deliveryPolicy } from "../../spec/events.ts";
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
  type Order,
} from "./retry-schedule.ts";
import { isSuccess } from "../shared/response.ts";
import { agentWithoutWebhooks } from "../webhooks/idle-agents.ts";
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

const status = (code: number): Reply => ({ kind: "status", status: code });

/** How each receiver behaves, attempt by attempt; those that fail once are content with the next attempt. */
const scripts = {
  /** Fails more often than any reading of the schedule tries. */
  // A sender may send each attempt twice.
  failing: [...Array.from({ length: 14 }, () => status(500)), status(204)],
  recovering: [status(500), status(500), status(204)],
  notFound: [status(404), status(204)],
  redirecting: [status(302), status(204)],
  resetting: [{ kind: "reset" }, status(204)],
  silent: [{ kind: "silence" }, status(204)],
  /** Answers 401 to the first attempt, since it was told another secret. */
  mismatched: [{ kind: "verify" }, status(204)],
  /** Answers 200 when more than the time has passed that a receiver has. */
  late: [{ kind: "held", status: 200 }],
  /** Answers 200 within that time, if not at once. */
  held: [{ kind: "held", status: 200 }],
  endless: [{ kind: "endless", status: 200 }, status(204)],
} as const satisfies Readonly<Record<string, readonly Reply[]>>;

export type ReceiverScript = keyof typeof scripts;
export const receiverScripts = Object.keys(scripts) as ReceiverScript[];

/** Those whose first answer is a failure, so that another attempt is due. */
export const scriptsFailingFirst = receiverScripts.filter((name) => !["late", "held", "endless"].includes(name));

export const hookOfScript = (script: ReceiverScript): string => `${hookPrefix}${script}`;
const redirectedHook = `${hookPrefix}redirected`;

/** Receivers that fail, and what of the retry schedule a target's time was let pass for. */
export interface FailingReceivers {
  readonly reach: Reach;
  /** `null`: not asked for, since the key has few requests. */
  readonly webhooks: Readonly<Record<ReceiverScript, RequestedWebhook | null>>;
  readonly invoked: Exchange;
  /** How long the two held deliveries waited for their answer, in milliseconds of the target's time; `null` where none came. */
  readonly heldForMs: { readonly held: number | null; readonly late: number | null };
  /** What came until the target's clock had been moved past the whole schedule; `null` where it cannot be moved, or the sender's retries do not follow it. */
  readonly passed: AdvancedSchedule | null;
  /** When nobody listened. Milliseconds since the start of the run. */
  readonly unwatched: readonly TimeSpan[];
}

export interface AdvancedSchedule {
  readonly deliveries: readonly Delivery[];
  /** Moves of the target's clock, in milliseconds on it. */
  readonly moves: readonly TimeSpan[];
  /** How far the clock had been moved at the end. */
  readonly untilMs: number;
  /** Deliveries of the webhook that always failed, and its record; `null` where its id is not known. */
  readonly listed: Exchange | null;
  readonly shown: Exchange | null;
  /** One more invoke after the end, and what came of it to the webhook that always failed. */
  readonly again: { readonly invoked: Exchange; readonly came: number };
}

/** Those that a key with few requests has room for: a failure, and a signature that its receiver does not accept. */
const leanScripts = ["failing", "mismatched"] as const satisfies readonly ReceiverScript[];

export const failingReceivers = probe(
  "an agent is invoked whose webhooks' receivers fail in many ways, and the retries are awaited",
  {
    needs: ["receiver", "agents.answering"],
    requests: (target) => (hasFewRequests(target) ? leanScripts.length + 1 : 14),
    waits: {
      mode: "optional",
      seconds: (target) => (hasFewRequests(target) ? 0 : (2 * deliveryPolicy.responseTimeoutMs) / 1000),
    },
    stage: "exclusive",
    creates: { webhooks: 10 },
    createsFew: { webhooks: leanScripts.length },
  },
  async (scene): Promise<FailingReceivers> => {
    const { client, given, target, time } = scene;
    const { receiver } = given;
    const reach = await provenReachOf(receiver, target);
    const agent = (await agentWithoutWebhooks(scene)) ?? agentIdOf({ target });
    const isLean = hasFewRequests(target);
    const opened = await openAll({ client, receiver, time }, agent, isLean ? leanScripts : receiverScripts);
    const query = isLean ? maxBody : { query: `Hello. ${randomUUID()}` };
    const invoked = await client.invoke(agent, query, { noRetry: true });
    const created = Object.values(opened).filter(({ exchange }) => isSuccess(exchange));
    const came =
      isSuccess(invoked) &&
      (await awaitDeliveries(
        created.map(({ address }) => ({ address, count: 1 })),
        time,
      ));
    const moves: TimeSpan[] = [];
    const { held, late, silent, failing } = opened;
    const heldForMs = {
      held: held === undefined ? null : await answerInTime(heldMs, held, time, moves),
      late:
        late === undefined || silent === undefined
          ? null
          : await answerAfter(lateAfterMs, late, time, moves, [late, silent]),
    };
    const passed =
      time.canAdvance && failing !== undefined
        ? await passSchedule({ client, time, failing, agent, receiver, moves, isAwaited: came, opened })
        : null;
    const webhooks = Object.fromEntries(
      receiverScripts.map((name) => {
        const made = opened[name];
        return [name, made === undefined ? null : requestedWebhookOf(made)];
      }),
    ) as Record<ReceiverScript, RequestedWebhook | null>;
    return { reach, webhooks, invoked, heldForMs, passed, unwatched: [] };
  },
);

type Opening = Pick<Watch, "client" | "receiver" | "time">;

async function openAll(
  { client, receiver, time }: Opening,
  agent: string,
  names: readonly ReceiverScript[],
): Promise<Partial<Record<ReceiverScript, OpenedWebhook>>> {
  const elsewhere = receiver.open(redirectedHook, { secret: null, replies: [status(204)] });
  const redirect: Reply = { kind: "status", status: 302, headers: [["Location", elsewhere.url]] };
  // On a real clock the events of later invokes come in between, and would use up its failures.
  const failing = time.canAdvance ? scripts.failing : [status(500)];
  const replies = { ...scripts, failing, redirecting: [redirect, status(204)] };
  const opened: Partial<Record<ReceiverScript, OpenedWebhook>> = {};
  for (const name of names) {
    const isMismatched = name === "mismatched";
    const wanted = { name, events: ["agent.completed"], agent, isSigned: true, replies: replies[name], isMismatched };
    opened[name] = await createWebhook(client, receiver, wanted);
  }
  return opened;
}

/** Held well within the time that a receiver has, a queue's step included; and well beyond it. */
const heldMs = 1500;
const lateAfterMs = 2 * deliveryPolicy.responseTimeoutMs;

/**
 * Answers what an address holds, once so much of the target's time has passed since it came, and the sender has given up those
 * that are `unanswered`.
 */
async function answerAfter(
  ms: number,
  { address }: OpenedWebhook,
  time: RunClock,
  moves: TimeSpan[],
  unanswered: readonly OpenedWebhook[] = [],
): Promise<number | null> {
  const [first] = address.deliveries();
  const sinceMs = first === undefined ? null : first.clockMs + first.receivedMs;
  const leftMs = sinceMs === null ? 0 : sinceMs + ms - time.targetMs();
  if (leftMs > 0 && time.canWait(leftMs)) await move(time, leftMs, moves);
  // A sender whose timer goes off by that move has to be gone before it is answered.
  if (time.settleMs > 0) await time.sleepReal(time.settleMs);
  await awaitLeaving(unanswered, time);
  const clockMs = time.maxClockOffsetMs();
  address.release();
  // The answer has to be there before the target's clock moves on.
  await awaitUnexpected(time);
  const reply = address.deliveries()[0]?.reply;
  const answeredMs = reply?.kind === "answered" ? reply.endMs : time.now();
  return sinceMs === null ? null : answeredMs + clockMs - sinceMs;
}

/** The same for what has to be answered in time: it may have come earlier than a busy machine of ours saw it. */
async function answerInTime(
  ms: number,
  opened: OpenedWebhook,
  time: RunClock,
  moves: TimeSpan[],
): Promise<number | null> {
  const delays = monitorEventLoopDelay({ resolution: delayResolutionMs });
  delays.enable();
  const heldForMs = await answerAfter(ms, opened, time, moves);
  delays.disable();
  const blurMs = Math.max(0, delays.max / 1e6 - delayResolutionMs);
  return heldForMs === null ? null : heldForMs + blurMs;
}

const delayResolutionMs = 10;

/**
 * Waits until the sender has given up those that get no answer: its timers take some real time to go off once its clock was moved,
 * a network's time-out may not follow a clock that is moved at all, and who waits may have nobody left to send the rest.
 */
async function awaitLeaving(opened: readonly OpenedWebhook[], { settleMs, sleepReal }: RunClock): Promise<void> {
  const mostMs = settleMs === 0 ? 0 : deliveryPolicy.responseTimeoutMs + settleMs;
  const isOpen = (): boolean => opened.some(({ address }) => isWaitedFor(address.deliveries()[0]?.reply));
  const untilMs = performance.now() + mostMs;
  while (isOpen() && performance.now() < untilMs) await sleepReal(lookEveryMs);
}

const isWaitedFor = (reply: DeliveryReply | undefined): boolean =>
  reply?.kind === "held" || (reply?.kind === "silent" && reply.leftMs === null);

const lookEveryMs = 10;

async function move(time: RunClock, ms: number, moves: TimeSpan[]): Promise<void> {
  const fromMs = time.clockOffsetMs();
  await time.passTime(ms, "an attempt of a webhook's delivery");
  if (time.canAdvance) moves.push({ fromMs, toMs: time.clockOffsetMs() });
}

interface Watch {
  readonly client: Client;
  readonly receiver: Receiver;
  readonly time: RunClock;
  readonly failing: OpenedWebhook;
  readonly agent: string;
  readonly moves: TimeSpan[];
  /** Whether deliveries come at all, so that it makes sense to wait for them. */
  readonly isAwaited: boolean;
  readonly opened: Partial<Record<ReceiverScript, OpenedWebhook>>;
}

/**
 * Lets the whole schedule pass, stopping before and after each instant at which an attempt may be due in some reading. `null` where the retries come
 * in real time, so that what was moved tells nothing of them.
 */
async function passSchedule(watch: Watch): Promise<AdvancedSchedule | null> {
  const { client, receiver, time, failing, agent, moves } = watch;
  const { address } = failing;
  const first = clockOf(address, 0) ?? time.clockOffsetMs();
  let { isAwaited } = watch;
  let order: Order | null = null;
  let queuedMs = 0;
  for (const [index, delayMs] of deliveryPolicy.retryDelaysMs.entries()) {
    const previous = clockOf(address, -1) ?? first;
    const bases = new Set(basesOf(order, { first, previous }));
    const prompt = [...bases].map((base) => base + delayMs + promptMs);
    const around = [...bases].flatMap((base) => [
      base + delayMs - allowedEarlyMs(delayMs) - marginMs(delayMs),
      base + delayMs + allowedLateMs(delayMs) + marginMs(delayMs),
    ]);
    const before = address.deliveries().length;
    let dueMs = time.now();
    for (const instant of [...prompt, ...around].toSorted((one, other) => one - other)) {
      await moveTo(instant, time, moves);
      const isPrompt = prompt.includes(instant);
      if (isPrompt) dueMs = time.now();
      // A sender that looks at its queue in real time needs some of it before the clock may go on: where an attempt is due, and where one would be early.
      if (isAwaited)
        await address.waitForDeliveries(
          before + 1,
          isPrompt ? promptSettles * time.settleMs : patienceOf(queuedMs, time),
        );
    }
    // By now every reading but the shortest has made so many attempts: what is still on its way is waited for.
    if (isAwaited && index > 0) isAwaited = await address.waitForDeliveries(index + 1, deliveryTimeoutMs(time));
    order ??= orderSeen(clockOf(address, before), { first, previous, delayMs });
    queuedMs = Math.max(queuedMs, (address.deliveries()[before]?.receivedMs ?? 0) - dueMs);
  }
  await moveTo((clockOf(address, -1) ?? first) + maxPauseMs + slackMs, time, moves);
  const untilMs = time.clockOffsetMs();
  if (await comeInRealTime(watch)) return null;
  const deliveries = receiver.deliveries().filter(({ hook }) => hook.startsWith(hookPrefix));

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
 * Whether a sender whose retries did not follow the moved clock makes them in real time: a worker that sleeps knows of no other. Waits for them where no
 * attempt followed the clock at all, and nobody promised that everything does. Where moving took so long that a retry may have come by either clock,
 * nothing is said of it.
 */
async function comeInRealTime({ opened, time, isAwaited }: Watch): Promise<boolean> {
  if (!isAwaited || time.agentsFollow || time.settleMs === 0) return false;
  const tried = scriptsFailingFirst.flatMap((script) => opened[script] ?? []).map(({ address }) => address);
  const later = tried.flatMap((address) => laterThanFirst(address.deliveries()));
  if (later.some(({ movedMs, realMs }) => movedMs >= followedMs && realMs < followedMs)) return false;
  // After so much real time it may be due by either clock.
  if (later.some(({ realMs }) => realMs >= followedMs)) return true;
  const before = tried.map((address) => ({ address, count: address.deliveries().length }));
  const hasCome = ({ address, count }: ExpectedDeliveries): boolean => address.deliveries().length > count;
  const firstMs = Math.max(...tried.map((address) => address.deliveries()[0]?.receivedMs ?? -Infinity));
  const untilMs = firstMs + firstRetryWithinMs;
  while (time.now() < untilMs && !before.every(hasCome)) await time.sleep(realStepMs);
  return before.some(hasCome);
}

/** How much later than the first each other attempt came: by how far the clock was moved, and in real time. */
const laterThanFirst = ([first, ...others]: readonly Delivery[]): {
  readonly movedMs: number;
  readonly realMs: number;
}[] =>
  first === undefined
    ? []
    : others.map(({ clockMs, receivedMs }) => ({
        movedMs: clockMs - first.clockMs,
        realMs: receivedMs - first.receivedMs,
      }));

/** A retry that is not immediate moves with the clock by this much at least. */
const followedMs = deliveryPolicy.retryDelaysMs[1] - allowedEarlyMs(deliveryPolicy.retryDelaysMs[1]);
const realStepMs = 2000;

interface Bases {
  readonly first: number;
  readonly previous: number;
}

/** Once it is seen what the pauses are counted from, nothing is due by any other count. */
const basesOf = (order: Order | null, { first, previous }: Bases): number[] =>
  order === null ? [first, previous] : [order === "from-first" ? first : previous];

/** The order by which an attempt came where the two tell it apart; `null` where they do not, or none came. */
function orderSeen(
  came: number | undefined,
  { first, previous, delayMs }: Bases & { readonly delayMs: number },
): Order | null {
  const isDue = (base: number): boolean =>
    came !== undefined &&
    came >= base + delayMs - allowedEarlyMs(delayMs) &&
    came <= base + delayMs + allowedLateMs(delayMs);
  const [byFirst, byPrevious] = [isDue(first), isDue(previous)];
  if (byFirst === byPrevious) return null;
  return byFirst ? "from-first" : "from-previous";
}

/** Real time may have passed for the target, too. */
const slackMs = 60_000;
/** Between a stop and what may be due, so that real time, which may pass for the target too, does not blur the two. */
const marginMs = (delayMs: number): number => Math.max(1500, allowedEarlyMs(delayMs) / 2);
/** What is due has surely been sent so long after it was due, if the sender has a timer for it. */
const promptMs = 1000;
/** So many times what a move needs to show, an attempt that is due is waited for. */
const promptSettles = 4;

/**
 * Real time in which a sender would have looked at its queue that took so long to send what was due; none where it has timers, and sends while a
 * move settles.
 */
const patienceOf = (queuedMs: number, { settleMs }: RunClock): number =>
  queuedMs > 0 ? Math.max(promptSettles * settleMs, queuedLooks * queuedMs) : 0;
const queuedLooks = 3;

async function moveTo(instant: number, time: RunClock, moves: TimeSpan[]): Promise<void> {
  if (instant <= time.clockOffsetMs()) return;
  await move(time, instant - time.clockOffsetMs(), moves);
  if (time.settleMs > 0) await time.sleepReal(time.settleMs);
}

/** How far the clock had been moved when the n-th attempt came. */
const clockOf = (address: Hook, at: number): number | undefined => address.deliveries().at(at)?.clockAtMostMs;
