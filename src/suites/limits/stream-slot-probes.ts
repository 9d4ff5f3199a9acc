import { setTimeout as sleep } from "node:timers/promises";

import type { Exchange } from "../../evidence/exchange.ts";
import { tierProbe, type TierProbeContext } from "../../run/probe.ts";
import { agentPath, bodyFor, type Client } from "../../run/send/client.ts";
import type { SendOptions } from "../../run/send/send-guard.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { RoleAssignment } from "../../target/target.ts";
import type { PendingExchange } from "../../wire/transport.ts";
import { isSuccess } from "../shared/response.ts";
import { briefParameters, minBriefMs } from "../stream/probes.ts";
import { ensureAllowance, helloBody, unpaced } from "./exhaust.ts";
import {
  holdAllSlots,
  invokeAndRetryAfterMinute,
  invokeWithRetries,
  maxHeldMs,
  requestsAndWait,
  repeatUntilRefused,
  awaitBriefly,
  stepMs,
  triesBeyondSlots,
} from "./hold-slots.ts";
import { requireEndpoint } from "./timed-retry.ts";

export interface FailedStreamsBeyondSlots {
  /** Absent in the evidence of older runs. */
  readonly concurrent?: number;
  readonly before: Exchange;
  readonly failed: readonly Exchange[];
  readonly after: Exchange;
}

/**
 * Opens one failing stream more than the key has concurrency slots, but at most 41 streams. If the server never frees
 * slots, the last stream gets a 429.
 */
export const failedStreamsBeyondSlots = tierProbe(
  "more streams end in an error than there are slots",
  {
    needs: ["agents.answering", "agents.failingInStream"],
    stage: "concurrency",
    ...requestsAndWait((tries) => tries + 2),
  },
  async ({ client, given, tested: { key, limits }, time, recorder }): Promise<FailedStreamsBeyondSlots> => {
    requireEndpoint("stream", { client, recorder });
    const own = client.as(key);
    const agent = given["agents.answering"];
    const tries = triesBeyondSlots(limits);
    await ensureAllowance(own, tries + 2, { time, recorder, perMinute: Math.max(limits.perMinute, tries + 2) });
    const before = await invokeWithRetries(own, agent);
    const failed = await repeatUntilRefused(before, tries, () =>
      own.stream(given["agents.failingInStream"], helloBody, unpaced),
    );
    const after = await invokeAndRetryAfterMinute(own, agent, time);
    return { concurrent: limits.concurrent, before, failed, after };
  },
);

export interface StreamsHeld {
  readonly concurrent: number;
  readonly streams: readonly Exchange[];
  /** Two invokes that the probe sends, one after the other, while all `streams` are open. */
  readonly extras: readonly Exchange[];
  /** More streams, opened if the first of `extras` succeeds within a second. They show whether streams occupy slots. */
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
    const found = await holdAllSlots(
      (tripMs) => holdStreams(context, tripMs),
      ({ streams }) => streams,
      ({ extras }) => extras.some(isSuccess),
      context,
    );
    const after = await invokeAndRetryAfterMinute(own, given["agents.answering"], time);
    return { concurrent: tested.limits.concurrent, ...found, after };
  },
);

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
  const agent = given["agents.slowStreaming"];
  const path = agentPath(agent, "stream");
  const json = bodyFor(agent, wasBriefStreamSlow(recorder, agent) ? { ...helloBody, ...briefParameters } : helloBody);
  const options = { json, accept: "text/event-stream", ...unpaced };
  const opened = Array.from({ length: concurrent }, () => own.open("POST", path, options));
  const flowing = Promise.all(opened.map((each) => each.firstEvent));
  await time.awaitAgent(flowing, 10_000, stepMs, tripMs);
  const extra = (): ReturnType<Client["open"]> =>
    own.open("POST", agentPath(given["agents.answering"], "invoke"), { json: helloBody, ...unpaced });
  const first = extra();
  await awaitBriefly(first.finished);
  const beyond = (await hasResponse(first, isSuccess)) ? await openExtraStreams(own, path, options) : [];
  await passPartOfStream(time);
  const second = extra();
  await awaitBriefly(second.finished);
  const all = Promise.all([...opened, ...beyond].map(({ finished }) => finished));
  const ended = await time.awaitAgent(all, maxHeldMs, 4 * stepMs, tripMs);
  const extras = [await first.finished, await second.finished];
  return { streams: ended.slice(0, concurrent), extras, more: ended.slice(concurrent) };
}

const hasResponse = async ({ finished }: PendingExchange, matches: (answer: Exchange) => boolean): Promise<boolean> => {
  const answer = await Promise.race([finished, Promise.resolve(null)]);
  return answer !== null && matches(answer);
};

/** Maximum number of additional streams. If the target admits all, its concurrency limit possibly ignores streams. */
const maxExtraStreams = 3;

async function openExtraStreams(own: Client, path: string, options: SendOptions): Promise<PendingExchange[]> {
  const opened: PendingExchange[] = [];
  for (let isOver = false; !isOver && opened.length < maxExtraStreams;) {
    const one = own.open("POST", path, options);
    opened.push(one);
    await awaitBriefly(Promise.race([one.firstEvent, one.finished]));
    isOver = await hasResponse(one, (answer) => !isSuccess(answer));
  }
  return opened;
}

function wasBriefStreamSlow(recorder: Recorder, agent: RoleAssignment): boolean {
  const sentText = JSON.stringify(briefParameters.parameters);
  return recorder
    .exchangesSinceOutage()
    .some(
      ({ request: { url, body }, sentMs, answer }) =>
        url.endsWith(agentPath(agent, "stream")) &&
        body.kind === "text" &&
        body.text.includes(sentText) &&
        answer.endMs - sentMs >= minBriefMs,
    );
}

const passPartOfStream = async (time: RunClock): Promise<void> => {
  await (time.agentsUseRealTime() ? sleep(partOfStreamMs) : time.passUntil(sleep(20), 1000));
};
const partOfStreamMs = 500;
