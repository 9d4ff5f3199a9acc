import { setTimeout as sleep } from "node:timers/promises";

import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { tierProbe, type TierProbeContext } from "../../run/probe.ts";
import { agentPath, bodyFor, type Client, type SendOptions } from "../../run/send/client.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { RoleAssignment } from "../../target/target.ts";
import type { PendingExchange } from "../../wire/transport.ts";
import { fillAgentId } from "../operations/probes.ts";
import { hasStatus, isSuccess } from "../shared/response.ts";
import { briefParameters, minBriefMs } from "../stream/probes.ts";
import { ensureAllowance, hello, unpaced, waitIfAllowed } from "./exhaust.ts";

/**
 * Bounds of the real time after which all sent requests have arrived. Opening a connection takes a few round trips. A
 * health read measures one round trip.
 */
const minArrivalMs = 10;
const maxArrivalMs = 500;
const roundTrips = 4;
/** Real pauses before each try, because a server may release slots late. */
const pausesMs = [0, 400, 1200] as const;
const maxSlowMs = 60_000;

/** All slots held by slow invokes, and one more request. */
export interface SlotsHeld {
  readonly concurrent: number;
  /** Concurrent requests, as many as the published slots. */
  readonly held: readonly Exchange[];
  readonly extra: Exchange;
  /**
   * Invokes on another key of the tier: while the held requests were in flight, and after all had ended. `null` if
   * there is no such key.
   */
  readonly twin: { readonly during: Exchange; readonly after: Exchange } | null;
  /** Health of another agent, read while the held requests were in flight. */
  readonly health: Exchange;
  /**
   * A batch that was submitted while the held requests were in flight. If it got a 5xx, it was submitted again after
   * all had ended. `null` if the batch path is not known.
   */
  readonly batch: { readonly during: Exchange; readonly after: Exchange | null } | null;
  /** Maximum time from the first end of a held request to the end of the extra request, by the target's clock. */
  readonly extraEndedAfterMs: number;
  readonly after: Exchange;
}

interface Held extends Pick<SlotsHeld, "held" | "extra" | "health"> {
  readonly during: Exchange | null;
  readonly submitted: Exchange | null;
}

export const slotsHeld = tierProbe(
  "all slots are held by slow requests",
  {
    needs: ["agents.slow", "agents.answering"],
    stage: "concurrency",
    requests: ({ limits }) => limits.concurrent + 4,
    waitSeconds: () => 5,
  },
  async ({ client, given, tested: { key, limits, siblingKey }, time, target, recorder }): Promise<SlotsHeld> => {
    const own = client.as(key);
    const other = siblingKey === null ? null : client.as(siblingKey);
    const { concurrent, perMinute } = limits;
    const batchPath = target.paths.batch === null ? null : fillAgentId(target.paths.batch, given["agents.answering"]);
    const submit = (path: string): PendingExchange => own.open("POST", path, { json: { batch: [hello] }, ...unpaced });
    const hold = async (tripMs: number): Promise<Held> => {
      await ensureAllowance(own, concurrent + 4, { time, recorder, perMinute });
      if (other !== null) await ensureAllowance(other, 2, { time, recorder, perMinute });
      const path = agentPath(given["agents.slow"], "invoke");
      const sentText = { json: bodyFor(given["agents.slow"], hello), ...unpaced };
      const opened = Array.from({ length: concurrent }, () => own.open("POST", path, sentText));
      const healthSentMs = time.now();
      await own.health(given["agents.answering"]);
      await sleep(
        Math.max(tripMs, Math.min(maxArrivalMs, Math.max(minArrivalMs, roundTrips * (time.now() - healthSentMs)))),
      );
      const more = own.open("POST", path, sentText);
      const siblingInvoke = other?.open("POST", agentPath(given["agents.answering"], "invoke"), {
        json: hello,
        ...unpaced,
      });
      const batch = batchPath === null ? null : submit(batchPath);
      const health = await own.health(given["agents.answering"]);
      for (const each of [siblingInvoke, batch]) if (each) await settledOrWaiting(each.finished);
      const all = Promise.all([...opened, more].map(({ finished }) => finished));
      const ended = await time.awaitAgent(all, maxSlowMs, stepMs, tripMs);
      const during = siblingInvoke === undefined ? null : await siblingInvoke.finished;
      const submitted = batch === null ? null : await batch.finished;
      return {
        held: ended.slice(0, concurrent),
        extra: ended.at(-1) ?? (await more.finished),
        during,
        health,
        submitted,
      };
    };
    const samplesOfKey = (): readonly Sample[] => recorder.samplesOf(key.name);
    const { held, extra, during, health, submitted } = await holdAtPace(
      hold,
      (result) => result.held,
      (result) => isSuccess(result.extra),
      { time, samplesOfKey },
    );
    const samples = new Map(samplesOfKey().map((sample) => [sample.id, sample]));
    const endMs = ({ id }: Exchange): number => {
      const sample = samples.get(id);
      return sample === undefined ? 0 : sample.endMs + (agentsFollowClock(time) ? sample.endClockMs : 0);
    };
    const extraEndedAfterMs = endMs(extra) - Math.min(...held.map(endMs)) + (agentsFollowClock(time) ? stepMs : 0);
    const after = await invokeWithRetries(own, given["agents.answering"]);
    const hasFailed = submitted !== null && (statusOf(submitted) ?? 0) >= 500;
    const batchAfter = hasFailed && batchPath !== null ? await submit(batchPath).finished : null;
    const batch = submitted === null ? null : { during: submitted, after: batchAfter };
    const twin =
      other === null || during === null
        ? null
        : { during, after: await invokeWithRetries(other, given["agents.answering"]) };
    return { concurrent, held, extra, twin, health, batch, extraEndedAfterMs, after };
  },
);

/**
 * Holds all slots. Tries again after a pause while some requests are refused. An advance of the clock leaves no real
 * time for responses in transit. So if an extra request was admitted and responses are slow, the slots are held once
 * more at a slower pace.
 */
async function holdAtPace<T>(
  hold: (tripMs: number) => Promise<T>,
  heldOf: (result: T) => readonly Exchange[],
  isExtraAdmitted: (result: T) => boolean,
  { time, samplesOfKey }: { readonly time: RunClock; readonly samplesOfKey: () => readonly Sample[] },
): Promise<T> {
  let result = await hold(quickTripMs);
  for (const pauseMs of pausesMs.slice(1)) {
    if (!heldOf(result).some((each) => hasStatus(each, 429))) break;
    await sleep(pauseMs);
    result = await hold(quickTripMs);
  }
  const tripMs = estimateTripMs(samplesOfKey());
  return agentsFollowClock(time) && isExtraAdmitted(result) && tripMs > outrunTripMs ? hold(tripMs) : result;
}

/** Whether agents follow the clock that the run advances. Otherwise they take real time. */
const agentsFollowClock = (time: RunClock): boolean => time.canAdvance && !time.agentsUseRealTime();

/** Real pause for responses at each step of the advanced clock. Round trips longer than `outrunTripMs` need longer pauses. */
const quickTripMs = 2;
const outrunTripMs = 40;
const maxTripMs = 1500;

/** Estimates a round trip with a margin: twice the longest time that a request of this key without an agent took. */
function estimateTripMs(samples: readonly Sample[]): number {
  const trips = samples.flatMap(({ kind, status, sentMs, headMs, sentClockMs, headClockMs }) =>
    status !== null && (kind === "health" || kind === "other") && sentClockMs === headClockMs ? [headMs - sentMs] : [],
  );
  return Math.min(maxTripMs, 2 * Math.max(0, ...trips));
}

/** Step by which the target's clock is advanced. The time of a response is known only to this precision. */
const stepMs = 500;

/** Invokes an agent. Retries after each pause while the response is a 429. */
async function invokeWithRetries(
  client: Client,
  agent: string | RoleAssignment,
  body: object = hello,
): Promise<Exchange> {
  let last: Exchange | null = null;
  for (const pauseMs of pausesMs) {
    if (pauseMs > 0) await sleep(pauseMs);
    last = await client.invoke(agent, body, unpaced);
    if (!hasStatus(last, 429)) break;
  }
  return last ?? client.invoke(agent, body, unpaced);
}

/** Retries once more after a minute. An exhausted rate recovers in the next minute, but a slot that was never released does not. */
async function invokeAfterMinute(client: Client, agent: string, time: RunClock): Promise<Exchange> {
  const after = await invokeWithRetries(client, agent);
  if (!hasStatus(after, 429)) return after;
  return (await waitIfAllowed(time, 61_000, "an exhausted rate must be ruled out"))
    ? invokeWithRetries(client, agent)
    : after;
}

/** More failing requests, one after the other, than there are slots. They show whether failures release their slots. */
export interface FailuresBeyondSlots {
  readonly concurrent: number;
  readonly before: Exchange;
  /** Requests with invalid input, up to the first that was refused with 429. */
  readonly refusedInput: readonly Exchange[];
  /** A valid invoke after the requests with invalid input. */
  readonly between: Exchange;
  readonly failed: readonly Exchange[];
  readonly after: Exchange;
}

/** Maximum number of slots for which the probes test all slots. More would take too many requests. */
const maxTestedSlots = 40;
const triesFor = ({ concurrent }: TierLimits): number => Math.min(maxTestedSlots, concurrent) + 1;

export const failuresBeyondSlots = tierProbe(
  "more requests end badly than there are slots",
  {
    needs: ["agents.answering", "agents.failing"],
    stage: "concurrency",
    requests: ({ limits }) => 2 * triesFor(limits) + 3,
    waitSeconds: ({ limits }) => (2 * triesFor(limits) + 3 > limits.perMinute ? 62 : 0),
  },
  async ({ client, given, tested: { key, limits }, time, recorder }): Promise<FailuresBeyondSlots> => {
    const own = client.as(key);
    const agent = given["agents.answering"];
    const tries = triesFor(limits);
    const room = (): Promise<void> =>
      ensureAllowance(own, tries + 2, { time, recorder, perMinute: Math.max(limits.perMinute, tries + 2) });
    const spend = async (name: string | RoleAssignment, body: object): Promise<Exchange[]> => {
      const sent: Exchange[] = [];
      while (sent.length < tries && !hasStatus(sent.at(-1) ?? before, 429))
        sent.push(await invokeWithRetries(own, name, body));
      return sent;
    };
    await room();
    const before = await invokeWithRetries(own, agent);
    const refusedInput = await spend(agent, { parameters: {} });
    const between = await invokeWithRetries(own, agent);
    await room();
    const failed = await spend(given["agents.failing"], hello);
    const after = await invokeAfterMinute(own, agent, time);
    return {
      concurrent: limits.concurrent,
      before,
      refusedInput,
      between,
      failed,
      after,
    };
  },
);

/** More streams that end in an error, one after the other, than there are slots. */
export interface FailedStreamsBeyondSlots {
  readonly before: Exchange;
  /** Failed streams, up to the first that was refused with 429. */
  readonly failed: readonly Exchange[];
  readonly after: Exchange;
}

export const failedStreamsBeyondSlots = tierProbe(
  "more streams end in an error than there are slots",
  {
    needs: ["agents.answering", "agents.failingInStream"],
    stage: "concurrency",
    requests: ({ limits }) => triesFor(limits) + 2,
    waitSeconds: ({ limits }) => (triesFor(limits) + 2 > limits.perMinute ? 62 : 0),
  },
  async ({ client, given, tested: { key, limits }, time, recorder }): Promise<FailedStreamsBeyondSlots> => {
    const own = client.as(key);
    const agent = given["agents.answering"];
    const tries = triesFor(limits);
    await ensureAllowance(own, tries + 2, { time, recorder, perMinute: Math.max(limits.perMinute, tries + 2) });
    const before = await invokeWithRetries(own, agent);
    const failed: Exchange[] = [];
    while (failed.length < tries && !hasStatus(failed.at(-1) ?? before, 429))
      failed.push(await own.stream(given["agents.failingInStream"], hello, unpaced));
    return { before, failed, after: await invokeAfterMinute(own, agent, time) };
  },
);

export interface StreamsHeld {
  readonly concurrent: number;
  readonly streams: readonly Exchange[];
  /** Invokes beyond the slots: one after the streams' first events, and one in mid-stream. */
  readonly extras: readonly Exchange[];
  /** More streams, opened one by one while the first streams went on. Empty unless the first extra request was admitted. */
  readonly more: readonly Exchange[];
  readonly after: Exchange;
}

export const streamsHeld = tierProbe(
  "all slots are held by streams",
  {
    needs: ["agents.slowStreaming", "agents.answering"],
    stage: "concurrency",
    requests: ({ limits }) => limits.concurrent + 3,
    waitSeconds: () => 15,
  },
  async (context): Promise<StreamsHeld> => {
    const { client, given, tested, time } = context;
    const own = client.as(tested.key);
    const found = await holdAtPace(
      (tripMs) => holdStreams(context, tripMs),
      ({ streams }) => streams,
      ({ extras }) => extras.some(isSuccess),
      { time, samplesOfKey: () => context.recorder.samplesOf(tested.key.name) },
    );
    const after = await invokeAfterMinute(own, given["agents.answering"], time);
    return { concurrent: tested.limits.concurrent, ...found, after };
  },
);

/**
 * Holds all slots by streams, and sends extra requests meanwhile.
 * @param tripMs real pause for requests in transit at each step of the advanced clock
 */
async function holdStreams(
  {
    client,
    given,
    tested: { key, limits },
    time,
    recorder,
  }: TierProbeContext<"agents.slowStreaming" | "agents.answering">,
  tripMs: number,
): Promise<Pick<StreamsHeld, "streams" | "extras" | "more">> {
  const own = client.as(key);
  const { concurrent, perMinute } = limits;
  await ensureAllowance(own, concurrent + 3, { time, recorder, perMinute });
  const path = agentPath(given["agents.slowStreaming"], "stream");
  const agent = given["agents.slowStreaming"];
  const json = bodyFor(agent, holdsSlotBriefly(recorder, agent) ? { ...hello, ...briefParameters } : hello);
  const options = { json, accept: "text/event-stream", ...unpaced };
  const opened = Array.from({ length: concurrent }, () => own.open("POST", path, options));
  const flowing = Promise.all(opened.map((each) => each.firstEvent));
  await time.awaitAgent(flowing, 10_000, stepMs, tripMs);
  const extra = (): ReturnType<Client["open"]> =>
    own.open("POST", agentPath(given["agents.answering"], "invoke"), { json: hello, ...unpaced });
  const first = extra();
  await settledOrWaiting(first.finished);
  const beyond = (await isResponse(first, isSuccess)) ? await openExtraStreams(own, path, options) : [];
  await passPartOfStream(time);
  const second = extra();
  await settledOrWaiting(second.finished);
  const all = Promise.all([...opened, ...beyond].map(({ finished }) => finished));
  const ended = await time.awaitAgent(all, maxSlowMs, 4 * stepMs, tripMs);
  const extras = [await first.finished, await second.finished];
  return { streams: ended.slice(0, concurrent), extras, more: ended.slice(concurrent) };
}

/** Whether a response is already complete and meets a condition. */
const isResponse = async ({ finished }: PendingExchange, isSuch: (answer: Exchange) => boolean): Promise<boolean> => {
  const answer = await Promise.race([finished, Promise.resolve(null)]);
  return answer !== null && isSuch(answer);
};

/** Maximum number of extra streams. If one of them is refused, there are one or two slots too many; if none is, streams hold no slots. */
const maxExtraStreams = 3;

async function openExtraStreams(own: Client, path: string, options: SendOptions): Promise<PendingExchange[]> {
  const opened: PendingExchange[] = [];
  for (let isOver = false; !isOver && opened.length < maxExtraStreams;) {
    const one = own.open("POST", path, options);
    opened.push(one);
    await settledOrWaiting(Promise.race([one.firstEvent, one.finished]));
    isOver = await isResponse(one, (answer) => !isSuccess(answer));
  }
  return opened;
}

/** Whether an earlier stream with {@link briefParameters} lasted long enough in real time to show that it holds a slot. */
function holdsSlotBriefly(recorder: Recorder, agent: RoleAssignment): boolean {
  const sentText = JSON.stringify(briefParameters.parameters);
  return recorder
    .exchanges()
    .some(
      ({ request: { url, body }, sentMs, answer }) =>
        url.endsWith(agentPath(agent, "stream")) &&
        body.kind === "text" &&
        body.text.includes(sentText) &&
        answer.endMs - sentMs >= minBriefMs,
    );
}

/** Waits for a response, but at most one second: a request without a response by then is waiting for a slot. */
const settledOrWaiting = (finished: Promise<unknown>): Promise<unknown> =>
  Promise.race([finished, sleep(1000, null, { ref: false })]);

/** Waits for a part of a stream's time, well before its end. */
const passPartOfStream = async (time: RunClock): Promise<void> => {
  await (time.agentsUseRealTime() ? sleep(partOfStreamMs) : time.passUntil(sleep(20), 1000));
};
const partOfStreamMs = 500;
