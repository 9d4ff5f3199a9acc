import { setTimeout as sleep } from "node:timers/promises";

import { minuteMs } from "../../base/duration.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
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

/**
 * Number of requests with the partner key. If both keys share an allowance, `Remaining` of the spare key falls by as
 * many, or the burst is refused so much earlier.
 */
const partnerRequests = 3;

const requestsOfMinute = (target: Target): number => spareKeyOf(target)?.limits.perMinute ?? 0;

/** Invokes with the partner key between two invokes with the spare key. */
export interface PartnerUse {
  readonly before: Exchange;
  readonly partner: readonly Exchange[];
  readonly after: Exchange;
}

/**
 * Evidence of a spare key whose minute was used up. The checks also read the run's recorded requests. `between` is
 * `null` without a partner key or without enough requests left in the minute, and absent in older evidence.
 */
export interface SpareMinute {
  readonly isSpare: boolean;
  readonly between?: PartnerUse | null;
}

/** Uses the partner key between two requests of the spare key, then sends with the spare key until it is refused. */
export const spareMinuteExhausted = probe(
  "the minute of a spare key is used up",
  {
    since: "1.1",
    needs: ["agents.answering"],
    stage: "limits",
    keys: spareKeys,
    requests: requestsOfMinute,
  },
  async (context): Promise<SpareMinute> => {
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
    const between = await usePartnerBetween(sender, context, spare);
    await exhaustSpare(sender, context, spare);
    return { isSpare: true, between };
  },
);

/**
 * Uses the partner key between two requests of the spare key. If the target counts both keys together, the spare key
 * may still be refused when it should be, and only this comparison shows the fault. Does not wait: other keys need the
 * run's waiting time.
 */
async function usePartnerBetween(
  { client, agent, time }: KeySender,
  { recorder }: Pick<ProbeContext, "recorder">,
  { limits: { perMinute }, partner }: SpareKey,
): Promise<PartnerUse | null> {
  if (partner === null) return null;
  const isRecent = ({ kind, headMs }: Sample): boolean => kind !== "health" && headMs > time.now() - minuteMs;
  const recent = recorder.samplesOf(client.key.name).filter(isRecent).length;
  const useBoth = recent + partnerRequests + 2 <= perMinute;
  const invoke = (): Promise<Exchange> => client.invoke(agent, hello, unpaced);
  const before = useBoth ? await invoke() : null;
  const sent: Exchange[] = [];
  while (sent.length < partnerRequests) sent.push(await client.as(partner).invoke(agent, hello, unpaced));
  return before === null ? null : { before, partner: sent, after: await invoke() };
}

/**
 * Uses up the spare key's limit per minute. If more or fewer requests were admitted than the tier publishes, sends a
 * second burst: the first may have crossed the boundary of two fixed windows. The second starts at another offset in
 * the minute.
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
  // In the first minute of the run, requests from before the run may explain an early refusal.
  const waitMs = isOver ? minuteMs + lastedMs + marginMs : minuteOverMs + marginMs - time.now();
  if (!(await waitIfAllowed(time, waitMs, "a second burst must show the limit of the spare key"))) return;
  const again = await exhaust(sender, { ...options, expected: isOver ? perMinute : 0 });
  // If this request is admitted, the limit per hour and the month's tokens did not cause the refusals.
  if (!isOver && again.end === "refused") await retryWhenDue(sender, await invokeUnpaced(sender));
}

/** A stream and an invalid invoke that each took the last free slot, and a valid invoke after each of the two. */
interface EndedOnLastSlot {
  readonly stream: Exchange;
  readonly afterStream: Exchange;
  /** An invoke without `query`. `null` if the slot of the stream was not released. */
  readonly badInput: Exchange | null;
  readonly afterInput: Exchange | null;
}

/**
 * Evidence of streams that held all slots of the spare key until the harness closed them, or the reason why there are
 * none.
 */
export type SpareSlots =
  | { readonly kind: "not needed"; readonly reason: string }
  | { readonly kind: "no agent" }
  | { readonly kind: "fast stream"; readonly stream: Exchange }
  | {
      readonly kind: "left";
      readonly concurrent: number;
      readonly streams: readonly Exchange[];
      /** An invoke that was sent while the streams held all slots. */
      readonly extra: Exchange;
      readonly isAnsweredMeanwhile: boolean;
      /** Invokes after all streams were closed. The last one is the first that was admitted, if any was. */
      readonly after: readonly Exchange[];
      /** Slow streams on all slots except one, opened after those invokes. Empty if no invoke was admitted. */
      readonly reopened: readonly Exchange[];
      /** Requests sent in sequence, each on the last free slot. `null` if the other slots were not all held. */
      readonly ended: EndedOnLastSlot | null;
    };

const delayMs = 250;
/** Body that asks for a stream of about 12 seconds. The target need not honour `stream_delay_ms`. */
const slowBody = {
  query: `Please count: ${Array.from({ length: 48 }, (_, index) => index + 1).join(" ")}`,
  parameters: { stream_delay_ms: delayMs },
} as const;
/** Events to read before deciding whether a stream is slow, and the real time to wait for them. */
const sampleSize = 5;
const sampleMs = 4000;
/** A stream counts as slow if every gap between its events is at least this share of the requested delay. */
const minObservedDelayShare = 0.6;
/**
 * Pauses before each invoke after the streams were closed. A server may take some seconds to notice a closed
 * connection.
 */
const pausesMs = [200, 800, 1000, 1500, 2500] as const;
/** Pauses before each invoke after a request that ended normally. */
const laterPausesMs = [0, 1500] as const;
const lastSlotPausesMs = [0, 3000, 2500] as const;
/** Real time that a server needs to notice a closed connection on a test network. */
const networkMs = 50;

const slotRequests = (target: Target): number => {
  const spare = spareKeyOf(target);
  return spare === null || !isNeeded(target) ? 0 : 2 * spare.limits.concurrent + 5;
};

/**
 * Whether this probe has to hold slots. If the main key has enough requests, the run finds a slow stream, and
 * `streamsHeld` tests the slots of each tier.
 */
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

/**
 * Opens slow streams on all slots except one. Retries after a pause, because the server may still hold the slot of a
 * closed stream.
 */
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
  // Leaves out streams that were refused before a later try succeeded.
  return held.filter(({ isOpen }, index) => isOpen || index === held.length - 1);
}

async function endOnLastSlot(
  client: Client,
  { agent, answering }: { readonly agent: string; readonly answering: string },
  time: Waiting,
): Promise<EndedOnLastSlot> {
  const invoke = (): Promise<Exchange> => client.invoke(answering, hello, unpaced);
  const next = async (): Promise<Exchange | null> => (await untilAdmitted(invoke, laterPausesMs, time)).at(-1) ?? null;
  // The slot may still be held for a stream that the harness has closed.
  const streams = await untilAdmitted(() => client.stream(agent, hello, unpaced), lastSlotPausesMs, time);
  const stream = streams.at(-1) ?? (await invoke());
  const afterStream = (await next()) ?? stream;
  if (!isSuccess(afterStream)) return { stream, afterStream, badInput: null, afterInput: null };
  const badInput = await client.invoke(answering, { parameters: {} }, unpaced);
  return { stream, afterStream, badInput, afterInput: await next() };
}

interface TimedStream {
  readonly stream: PendingExchange;
  /** Whether the first events came about as slowly as the request asked. */
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
    // The gap before the second event is left out, because the agent may need time to begin.
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
 * Sends a request after each pause until one is admitted. A pause gives the server time to notice that an earlier
 * request has ended.
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
