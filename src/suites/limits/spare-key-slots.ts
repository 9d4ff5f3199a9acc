import { setTimeout as sleep } from "node:timers/promises";

import type { Exchange } from "../../evidence/exchange.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import { type Client, agentPath } from "../../run/send/client.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { Target } from "../../target/target.ts";
import type { PendingExchange } from "../../wire/transport.ts";
import { hasStatus, isSuccess } from "../shared/response.ts";
import { ensureAllowance, helloBody, unpaced } from "./exhaust.ts";
import { awaitBriefly } from "./hold-slots.ts";
import { spareKeyOf, spareKeys } from "./spare-key.ts";
import { requireEndpoint } from "./timed-retry.ts";

interface EndedOnLastSlot {
  readonly stream: Exchange;
  readonly afterStream: Exchange;
  readonly badInput: Exchange | null;
  readonly afterInput: Exchange | null;
}

export type SpareSlotsEvidence =
  | { readonly kind: "not needed"; readonly reason: string }
  | { readonly kind: "no agent" }
  | { readonly kind: "fast stream"; readonly stream: Exchange }
  | {
      readonly kind: "left";
      readonly concurrent: number;
      readonly streams: readonly Exchange[];
      readonly extra: Exchange;
      readonly isAnsweredMeanwhile: boolean;
      readonly after: readonly Exchange[];
      readonly reopened: readonly Exchange[];
      readonly ended: EndedOnLastSlot | null;
    };

const delayMs = 250;
/** Request body for a stream of about 12 seconds. A target is allowed to ignore `stream_delay_ms`. */
const slowBody = {
  query: `Please count: ${Array.from({ length: 48 }, (_, index) => index + 1).join(" ")}`,
  parameters: { stream_delay_ms: delayMs },
} as const;
/** Number of events to read before deciding whether a stream is slow. */
const sampleSize = 5;
const sampleMs = 4000;
/** A stream counts as slow if each gap between its events is at least this share of `delayMs`. */
const minObservedDelayShare = 0.6;
/** Pauses before each try of the invoke that follows the closing of all streams. Servers notice a disconnect late. */
const pausesMs = [200, 800, 1000, 1500, 2500] as const;
/** Pauses before each try of an invoke that follows a completed request. The slot of that request is free soon. */
const laterPausesMs = [0, 1500] as const;
const lastSlotPausesMs = [0, 3000, 2500] as const;
/** Real time for a disconnect or a response to cross the network. */
const networkMs = 50;

const slotRequests = (target: Target): number => {
  const spare = spareKeyOf(target);
  return spare === null || !mustHoldSlots(target) ? 0 : 2 * spare.limits.concurrent + 5;
};

/** Whether this probe must replace `streamsHeld`: the main key's limit is low, and no agent streams slowly. */
const mustHoldSlots = (target: Target): boolean =>
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
  async (context): Promise<SpareSlotsEvidence> => {
    const { target, client, given, recorder, time } = context;
    const spare = spareKeyOf(target);
    if (spare === null) return { kind: "not needed", reason: "no key is spare" };
    if (!mustHoldSlots(target)) return { kind: "not needed", reason: "the probes of each tier hold slots" };
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
    const answering = given["agents.answering"];
    const extra = own.open("POST", agentPath(answering, "invoke"), { json: helloBody, ...unpaced });
    await awaitBriefly(extra.finished);
    const isAnsweredMeanwhile = await isFinished(extra);
    if (isAnsweredMeanwhile) await time.sleepReal(3 * delayMs);
    const closed = await Promise.all(streams.map(({ stream }) => close(stream)));
    const after = await sendUntilAdmitted(() => own.invoke(answering, helloBody, unpaced), pausesMs, time);
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

/** Opens slow streams on all slots except one. Retries, because closed streams may still hold slots. */
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
  return held.filter(({ isOpen }, index) => isOpen || index === held.length - 1);
}

async function endOnLastSlot(
  client: Client,
  { agent, answering }: { readonly agent: string; readonly answering: string },
  time: Waiting,
): Promise<EndedOnLastSlot> {
  const invoke = (): Promise<Exchange> => client.invoke(answering, helloBody, unpaced);
  const next = async (): Promise<Exchange | null> =>
    (await sendUntilAdmitted(invoke, laterPausesMs, time)).at(-1) ?? null;
  const streams = await sendUntilAdmitted(() => client.stream(agent, helloBody, unpaced), lastSlotPausesMs, time);
  const stream = streams.at(-1) ?? (await invoke());
  const afterStream = (await next()) ?? stream;
  if (!isSuccess(afterStream)) return { stream, afterStream, badInput: null, afterInput: null };
  const badInput = await client.invoke(answering, { parameters: {} }, unpaced);
  return { stream, afterStream, badInput, afterInput: await next() };
}

interface TimedStream {
  readonly stream: PendingExchange;
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
    // Ignores the gap between the first two events, because the agent may need time to begin.
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

async function sendUntilAdmitted(
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
