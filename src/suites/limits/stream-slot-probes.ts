import { setTimeout as sleep } from "node:timers/promises";

import type { Exchange } from "../../evidence/exchange.ts";
import { tierProbe, type TierProbeContext } from "../../run/probe.ts";
import { agentPath, bodyFor, type Client, type SendOptions } from "../../run/send/client.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { RoleAssignment } from "../../target/target.ts";
import type { PendingExchange } from "../../wire/transport.ts";
import { isSuccess } from "../shared/response.ts";
import { briefParameters, minBriefMs } from "../stream/probes.ts";
import { ensureAllowance, hello, unpaced } from "./exhaust.ts";
import {
  holdAtPace,
  invokeAfterMinute,
  invokeWithRetries,
  maxSlowMs,
  costOfTries,
  sendUntilRefused,
  settledOrWaiting,
  stepMs,
  triesFor,
} from "./hold-slots.ts";
import { requireEndpoint } from "./timed-retry.ts";

/** Streams that each end in an error, sent in sequence. There are more of them than concurrency slots. */
export interface FailedStreamsBeyondSlots {
  readonly before: Exchange;
  /** The streams, up to the first that got 429. */
  readonly failed: readonly Exchange[];
  readonly after: Exchange;
}

export const failedStreamsBeyondSlots = tierProbe(
  "more streams end in an error than there are slots",
  {
    needs: ["agents.answering", "agents.failingInStream"],
    stage: "concurrency",
    ...costOfTries((tries) => tries + 2),
  },
  async ({ client, given, tested: { key, limits }, time, recorder }): Promise<FailedStreamsBeyondSlots> => {
    requireEndpoint("stream", { client, recorder });
    const own = client.as(key);
    const agent = given["agents.answering"];
    const tries = triesFor(limits);
    await ensureAllowance(own, tries + 2, { time, recorder, perMinute: Math.max(limits.perMinute, tries + 2) });
    const before = await invokeWithRetries(own, agent);
    const failed = await sendUntilRefused(before, tries, () =>
      own.stream(given["agents.failingInStream"], hello, unpaced),
    );
    return { before, failed, after: await invokeAfterMinute(own, agent, time) };
  },
);

export interface StreamsHeld {
  readonly concurrent: number;
  readonly streams: readonly Exchange[];
  /** Invokes sent while the streams held all slots: one after the streams' first events, and one later. */
  readonly extras: readonly Exchange[];
  /**
   * Extra streams, opened one by one while the first streams were open. Empty unless the first invoke beyond the slots
   * was admitted.
   */
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
    requireEndpoint("stream", context);
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
 * Holds all slots with streams. Sends extra invokes while the streams go on.
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

/** Whether a response is complete and meets a condition. Does not wait for the response. */
const isResponse = async ({ finished }: PendingExchange, isSuch: (answer: Exchange) => boolean): Promise<boolean> => {
  const answer = await Promise.race([finished, Promise.resolve(null)]);
  return answer !== null && isSuch(answer);
};

/**
 * Maximum number of extra streams. If the target refuses one of them, it has a slot or two too many. If it refuses
 * none, its streams hold no slots at all.
 */
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

/** Whether the run has seen a stream with {@link briefParameters} last long enough, in real time, to hold a slot. */
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

/** Waits for part of a stream's duration. The stream must still go on afterwards. */
const passPartOfStream = async (time: RunClock): Promise<void> => {
  await (time.agentsUseRealTime() ? sleep(partOfStreamMs) : time.passUntil(sleep(20), 1000));
};
const partOfStreamMs = 500;
