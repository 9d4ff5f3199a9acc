import { setTimeout as sleep } from "node:timers/promises";

import { minuteMs } from "../../base/duration.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { isAdmitted } from "../../rules/limits/sample.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { agentPath, type Client } from "../../run/send/client.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { Target } from "../../target/target.ts";
import type { PendingExchange } from "../../wire/transport.ts";
import { hasStatus, isSuccess } from "../shared/response.ts";
import { ensureAllowance, exhaust, hello, invokeUnpaced, type KeySender, unpaced, waitIfAllowed } from "./exhaust.ts";
import { settledOrWaiting } from "./hold-slots.ts";
import { countedReadOf } from "./key-history.ts";
import { beyondMinute, marginMs } from "./minute-probe.ts";
import { type SpareKey, spareKeyOf, spareKeys } from "./spare-key.ts";
import { requireEndpoint, retryWhenDue } from "./timed-retry.ts";

/** Requests on the other key before the burst. If both keys share an allowance, the burst gets that many fewer. */
const partnerRequests = 3;

const requestsOfMinute = (target: Target): number => spareKeyOf(target)?.limits.perMinute ?? 0;

/**
 * Sends until the spare key is refused. The checks judge the recorded requests of all keys, so the evidence only says
 * whether there was a spare key.
 */
export const spareMinuteExhausted = probe(
  "the minute of a spare key is used up",
  {
    since: "1.1",
    needs: ["agents.answering"],
    stage: "limits",
    keys: spareKeys,
    requests: requestsOfMinute,
  },
  async (context): Promise<{ readonly isSpare: boolean }> => {
    const spare = spareKeyOf(context.target);
    if (spare === null) return { isSpare: false };
    requireEndpoint("invoke", context);
    const { client, time, given, discovery } = context;
    const sender: KeySender = {
      client: client.as(spare.key),
      agent: given["agents.answering"],
      limits: spare.limits,
      time,
      countedRead: countedReadOf(discovery),
    };
    if (spare.partner !== null)
      for (let count = 0; count < partnerRequests; count++)
        await client.as(spare.partner).invoke(sender.agent, hello, unpaced);
    await exhaustSpare(sender, context, spare);
    return { isSpare: true };
  },
);

/**
 * Uses up a minute of the spare key. If more or fewer requests were admitted than the tier publishes, does it once
 * more: a burst may cross the boundary of two fixed windows. The second burst is at another point of the minute.
 */
async function exhaustSpare(
  sender: KeySender,
  context: Pick<ProbeContext, "recorder">,
  { limits, key }: SpareKey,
): Promise<void> {
  const { time } = sender;
  const { perMinute, burst } = limits;
  const earlier = context.recorder
    .samplesOf(key.name)
    .filter((each) => each.kind !== "health" && isAdmitted(each) && each.headMs > time.now() - minuteMs).length;
  const beganMs = time.now();
  const options = { max: beyondMinute(limits), expected: perMinute - earlier };
  const { admitted, end } = await exhaust(sender, options);
  const total = admitted + earlier;
  const isOver = total > perMinute + (burst ?? Infinity);
  if (end === "failing" || (total >= perMinute && !isOver)) return;
  const lastedMs = time.now() - beganMs;
  // Until the run is a minute old, use of the key before the run may explain an early refusal.
  const waitMs = isOver ? minuteMs + lastedMs + marginMs : minuteOverMs + marginMs - time.now();
  if (!(await waitIfAllowed(time, waitMs, "a second burst must show the limit of the spare key"))) return;
  const again = await exhaust(sender, { ...options, expected: isOver ? perMinute : 0 });
  // An admitted request shows that hour and tokens are not used up.
  if (!isOver && again.end === "refused") await retryWhenDue(sender, await invokeUnpaced(sender));
}

/** The outcome of requests that each took the last free slot, and of an invoke after each. */
interface EndedOnLastSlot {
  readonly stream: Exchange;
  readonly afterStream: Exchange;
  /** An invoke without a query. `null` if the stream has not released its slot. */
  readonly badInput: Exchange | null;
  readonly afterInput: Exchange | null;
}

/** Streams that held all slots of the spare key, until their client left. */
export type SpareSlots =
  | { readonly kind: "not needed"; readonly reason: string }
  | { readonly kind: "no agent" }
  | { readonly kind: "fast stream"; readonly stream: Exchange }
  | {
      readonly kind: "left";
      readonly concurrent: number;
      readonly streams: readonly Exchange[];
      /** One more invoke than there are slots, and whether it was answered while all streams went on. */
      readonly extra: Exchange;
      readonly isAnsweredMeanwhile: boolean;
      /** Invokes after all streams were closed, up to the first that was admitted. */
      readonly after: readonly Exchange[];
      /** Slow streams that then hold all slots but one. Empty if no slot was free. */
      readonly reopened: readonly Exchange[];
      /** Requests on the last slot, one after the other. `null` if it was not free. */
      readonly ended: EndedOnLastSlot | null;
    };

const delayMs = 250;
/** Asks for a stream of about 12 seconds, if the target honours the delay. */
const slowBody = {
  query: `Please count: ${Array.from({ length: 48 }, (_, index) => index + 1).join(" ")}`,
  parameters: { stream_delay_ms: delayMs },
} as const;
/** Events to read before deciding whether a stream is slow, and the real time to wait for them. */
const sampleSize = 5;
const sampleMs = 4000;
/** Gaps between events count as the requested delay from this share on. */
const minObservedDelayShare = 0.6;
/** Pauses before each try to be admitted again. A server may notice that a client has left some seconds later. */
const pausesMs = [200, 800, 1000, 1500, 2500] as const;
/** Pauses after requests that ended by themselves. */
const laterPausesMs = [0, 1500] as const;
const lastSlotPausesMs = [0, 3000, 2500] as const;
/** Real time within which the server notices that a connection was closed. */
const networkMs = 50;

const slotRequests = (target: Target): number => {
  const spare = spareKeyOf(target);
  return spare === null || !isNeeded(target) ? 0 : 2 * spare.limits.concurrent + 5;
};

/** With enough requests, the run finds a slow stream for the probes of each tier. */
const isNeeded = (target: Target): boolean =>
  hasFewRequests(target) &&
  target.agents.slowStreaming === undefined &&
  target.roleAssignments.slowStreaming === undefined;

export const spareSlotsLeft = probe(
  "slow streams hold all slots of a spare key, and their client leaves",
  {
    since: "1.1",
    needs: ["agents.answering"],
    stage: "limits",
    keys: spareKeys,
    requests: slotRequests,
  },
  async (context): Promise<SpareSlots> => {
    const { target, client, given, recorder, time } = context;
    const spare = spareKeyOf(target);
    if (spare === null) return { kind: "not needed", reason: "no key is spare" };
    if (!isNeeded(target)) return { kind: "not needed", reason: "the probes of each tier hold slots" };
    const agent = target.agents.streaming;
    if (agent === undefined) return { kind: "no agent" };
    requireEndpoint("stream", context);
    const own = client.as(spare.key);
    const { perMinute, concurrent } = spare.limits;
    await ensureAllowance(own, slotRequests(target), { time, recorder, perMinute });
    const first = openTimed(own, agent, time);
    if (!(await first.isSlow())) return { kind: "fast stream", stream: await close(first.stream) };
    const streams = [first, ...Array.from({ length: concurrent - 1 }, () => openTimed(own, agent, time))];
    await Promise.race([Promise.all(streams.map(({ stream }) => stream.firstEvent)), time.sleepReal(sampleMs)]);
    const extra = own.open("POST", agentPath(given["agents.answering"], "invoke"), { json: hello, ...unpaced });
    await settledOrWaiting(extra.finished);
    const isAnsweredMeanwhile = await isFinished(extra);
    if (isAnsweredMeanwhile) await time.sleepReal(3 * delayMs);
    const closed = await Promise.all(streams.map(({ stream }) => close(stream)));
    const answering = given["agents.answering"];
    const after = await untilAdmitted(() => own.invoke(answering, hello, unpaced), pausesMs, time);
    const holding = after.some(isSuccess) ? await holdAllButOne(own, agent, concurrent, time) : [];
    const isHeld = holding.length === concurrent - 1 && holding.every(({ isOpen }) => isOpen);
    const ended = after.some(isSuccess) && isHeld ? await endOnLastSlot(own, { agent, answering }, time) : null;
    const reopened = await Promise.all(holding.map(({ stream }) => close(stream)));
    return {
      kind: "left",
      concurrent,
      streams: closed,
      extra: await extra.finished,
      isAnsweredMeanwhile,
      after,
      reopened,
      ended,
    };
  },
);

type Waiting = Pick<RunClock, "sleep" | "now">;

/** Opens slow streams on all slots but one. Tries again while the slot of a closed stream may still be held. */
async function holdAllButOne(client: Client, agent: string, concurrent: number, time: Waiting) {
  const held: { readonly stream: PendingExchange; readonly isOpen: boolean }[] = [];
  for (const pauseMs of lastSlotPausesMs) {
    await time.sleep(pauseMs);
    while (held.filter(({ isOpen }) => isOpen).length < concurrent - 1) {
      const { stream } = openTimed(client, agent, time);
      await stream.firstEvent;
      const isOpen = !(await isFinished(stream));
      held.push({ stream, isOpen });
      if (!isOpen) break;
    }
    if (held.at(-1)?.isOpen !== false) break;
  }
  // Earlier tries do not count.
  return held.filter(({ isOpen }, index) => isOpen || index === held.length - 1);
}

async function endOnLastSlot(
  client: Client,
  { agent, answering }: { readonly agent: string; readonly answering: string },
  time: Waiting,
): Promise<EndedOnLastSlot> {
  const invoke = (): Promise<Exchange> => client.invoke(answering, hello, unpaced);
  const next = async (): Promise<Exchange | null> => (await untilAdmitted(invoke, laterPausesMs, time)).at(-1) ?? null;
  // A stream whose client has left may still hold this slot.
  const streams = await untilAdmitted(() => client.stream(agent, hello, unpaced), lastSlotPausesMs, time);
  const stream = streams.at(-1) ?? (await invoke());
  const afterStream = (await next()) ?? stream;
  if (!isSuccess(afterStream)) return { stream, afterStream, badInput: null, afterInput: null };
  const badInput = await client.invoke(answering, { parameters: {} }, unpaced);
  return { stream, afterStream, badInput, afterInput: await next() };
}

interface TimedStream {
  readonly stream: PendingExchange;
  /** Whether the first events come with the requested delay. */
  readonly isSlow: () => Promise<boolean>;
}

function openTimed(client: Client, agent: string, time: Pick<RunClock, "now">): TimedStream {
  const timesMs: number[] = [];
  const sampled = Promise.withResolvers<void>();
  const stream = client.open("POST", agentPath(agent, "stream"), {
    ...unpaced,
    json: slowBody,
    accept: "text/event-stream",
    closeWhen: (events) => {
      timesMs.push(time.now());
      if (events.length >= sampleSize) sampled.resolve();
      return false;
    },
  });
  const isSlow = async (): Promise<boolean> => {
    await Promise.race([sampled.promise, stream.finished, sleep(sampleMs, null, { ref: false })]);
    // The gap before the second event may include the time that the agent takes to begin.
    const gapsMs = timesMs.slice(2).map((ms, index) => ms - (timesMs[index + 1] ?? ms));
    return timesMs.length >= sampleSize && gapsMs.every((ms) => ms >= minObservedDelayShare * delayMs);
  };
  return { stream, isSlow };
}

function close(stream: PendingExchange): Promise<Exchange> {
  stream.close();
  return stream.finished;
}

const isFinished = ({ finished }: PendingExchange): Promise<boolean> =>
  Promise.race([finished.then(() => true), sleep(networkMs, false)]);

/**
 * Sends again after each pause until a request is admitted. During a pause, the server notices that an earlier request
 * has ended.
 */
async function untilAdmitted(
  send: () => Promise<Exchange>,
  pauses: readonly number[],
  time: Pick<RunClock, "sleep">,
): Promise<Exchange[]> {
  const sent: Exchange[] = [];
  for (const pauseMs of pauses) {
    await sleep(networkMs);
    await time.sleep(pauseMs);
    const exchange = await send();
    sent.push(exchange);
    if (!hasStatus(exchange, 429)) break;
  }
  return sent;
}
