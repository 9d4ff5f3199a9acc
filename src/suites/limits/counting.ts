import type { Exchange } from "../../evidence/exchange.ts";
import { sampleOf } from "../../rules/limits/sample.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, type Unproven, unproven } from "../../run/judge/finding.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { probe } from "../../run/probe.ts";
import type { Client } from "../../run/send/client.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import { longQuery } from "../invoke/probes.ts";
import { fallBetween } from "../shared/compare-samples.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { ensureAllowance, helloBody, unpaced, waitIfAllowed } from "./exhaust.ts";
import { useExpiryMs } from "./timed-retry.ts";

/** The smallest limit per minute in the document, assumed if the key's tier is unknown. */
const smallestPerMinute = 10;

/** Responses that show how much each kind of request lowers `Remaining`. */
export interface AllowanceResponses {
  readonly first: Exchange;
  readonly before: Exchange;
  readonly streams: readonly Exchange[];
  readonly afterStreams: Exchange;
  readonly health: readonly Exchange[];
  readonly afterHealth: Exchange;
  /** Requests with a key that differs from the valid key only in the last character. */
  readonly strangers: readonly Exchange[];
  readonly afterStrangers: Exchange;
  /** Requests with the valid key in an unusual spelling: the scheme in lower case, or two spaces before the key. */
  readonly spelled: readonly Exchange[];
  readonly afterSpelled: Exchange;
  /** A health request some seconds after the other requests; `null` if the run does not allow the wait. */
  readonly later: Exchange | null;
  /** Requests without a response. The server may or may not have counted them. */
  readonly lost: readonly Exchange[];
}

const pauseMs = 3000;
const maxStreams = 4;

export const allowanceWatched = probe(
  "one allowance is watched while it is drawn on",
  {
    needs: ["agents.answering"],
    requests: 9,
    waits: { mode: "optional", seconds: pauseMs / 1000 },
    stage: "exclusive",
  },
  async ({ client, given, target, time, recorder }): Promise<AllowanceResponses> => {
    const agent = given["agents.answering"];
    const { streaming } = target.agents;
    const perMinute = limitsOf(client.key, target)?.perMinute ?? smallestPerMinute;
    await ensureAllowance(client, 9, { time, recorder, perMinute });
    const invoke = (authorization?: string): Promise<Exchange> =>
      client.invoke(agent, helloBody, { ...unpaced, ...(authorization === undefined ? {} : { authorization }) });
    const first = await invoke();
    let before = await invoke();
    const streams: Exchange[] = [];
    if (streaming !== undefined) {
      const sized = await client.stream(streaming, { query: longQuery, parameters: { chunk_size: 8 } }, unpaced);
      // A target that rejects `chunk_size` may still count the stream. So the probe sends a new `before`, and then
      // streams without `chunk_size`.
      if (isSuccess(sized) || hasStatus(sized, 429)) streams.push(sized);
      else before = await invoke();
    }
    while (streaming !== undefined && needsStream(before, streams, target.agentSource !== "named"))
      streams.push(await client.stream(streaming, { query: longQuery }, unpaced));
    const afterStreams = await invoke();
    const health = await repeatTimes(3, () => client.health(agent));
    // Health requests must not count against limits, even for degraded or unhealthy agents.
    for (const other of [target.agents.degraded, target.agents.unhealthy])
      if (other !== undefined) await client.health(other);
    const afterHealth = await invoke();
    const { key } = client.key;
    const strangers = await repeatTimes(3, (index) =>
      invoke(`Bearer ${key.slice(0, -1)}${otherCharacter(key.at(-1), index)}`),
    );
    const afterStrangers = await invoke();
    const spelled = [await invoke(`bearer ${key}`), await invoke(`Bearer  ${key}`)];
    const afterSpelled = await invoke();
    const hasWaited = await waitIfAllowed(time, pauseMs, "some seconds of the window must pass");
    const later = hasWaited ? await client.health(agent) : null;
    return {
      first,
      before,
      streams,
      afterStreams,
      health,
      afterHealth,
      strangers,
      afterStrangers,
      spelled,
      afterSpelled,
      later,
      lost: unansweredSince(first, recorder),
    };
  },
);

const unansweredSince = ({ key, sentMs }: Exchange, recorder: Recorder): Exchange[] =>
  recorder
    .exchangesSinceOutage()
    .filter((each) => each.key === key && each.sentMs >= sentMs && each.answer.kind === "unanswered");

function needsStream(before: Exchange, streams: readonly Exchange[], mayNotStream: boolean): boolean {
  const last = streams.at(-1);
  if (last === undefined) return true;
  if (streams.length >= maxStreams || !isSuccess(last) || mayNotStream) return false;
  const fall = fallBetween(sampleOf(before), sampleOf(last));
  return fall !== null && fall.fell < 1;
}

async function repeatTimes<T>(count: number, each: (index: number) => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  for (let index = 0; index < count; index++) done.push(await each(index));
  return done;
}

const otherCharacter = (last: string | undefined, index: number): string =>
  ["x", "y", "z", "w"].filter((each) => each !== last)[index] ?? "q";

export const twoKeysUsed = probe(
  "a key is used between two requests of another",
  { needs: ["agents.answering", "keys.second"], requests: 3, stage: "exclusive" },
  async ({ client, given, target, time, recorder }) => {
    const agent = given["agents.answering"];
    const other = client.as(given["keys.second"]);
    const ensure = (each: Client, requests: number): Promise<void> =>
      ensureAllowance(each, requests, {
        time,
        recorder,
        perMinute: limitsOf(each.key, target)?.perMinute ?? smallestPerMinute,
      });
    // Lets earlier requests of both keys expire. A faulty target that counts both keys together could otherwise answer
    // 429.
    if (time.canAdvance) await time.passTime(useExpiryMs, "earlier use of both keys must expire");
    await ensure(client, 3);
    await ensure(other, 2);
    const before = await other.invoke(agent, helloBody, unpaced);
    const between = await repeatTimes(3, () => client.invoke(agent, helloBody, unpaced));
    const after = await other.invoke(agent, helloBody, unpaced);
    return { before, between, after, lost: unansweredSince(before, recorder) };
  },
);

const incomparable = (what: string): Finding<never> =>
  unproven(`${what} report different windows, or no \`X-RateLimit-Remaining\``);

const unansweredBetween = (lost: readonly Exchange[], from: Exchange, to: Exchange): Unproven | null =>
  lost.some(({ sentMs }) => sentMs >= from.sentMs && sentMs <= to.sentMs)
    ? unproven("a request without a response may have been counted")
    : null;

function unprovenUnlessAdmitted(...exchanges: readonly Exchange[]): Finding<never> | null {
  const failed = exchanges.find((each) => !isSuccess(each));
  return failed === undefined ? null : unproven(`a request that should be counted got ${outcomeOf(failed)}`);
}

function remainingUnreliable(...invokes: readonly Exchange[]): Finding<never> | null {
  const falls = invokes.slice(1).map((each, index) => fallBetween(sampleOf(invokes[index] ?? each), sampleOf(each)));
  const isReliable = (falls[0]?.fell ?? 1) <= 1 && falls.some((fall) => fall === null || fall.fell > 0);
  return isReliable ? null : unproven("`Remaining` does not fall by one with each request (HDR-12)");
}

function judgeOnlyLastCounted(lost: readonly Exchange[], from: Exchange, to: Exchange, what: string): Finding<never> {
  const missing = unprovenUnlessAdmitted(from, to);
  if (missing !== null) return missing;
  const fall = fallBetween(sampleOf(from), sampleOf(to));
  if (fall === null) return incomparable("the responses before and after");
  if (fall.fell <= 1) return holds();
  return (
    unansweredBetween(lost, from, to) ??
    breach(`\`Remaining\` falls by 1, for the invoke after ${what}`, `it fell by ${fall.fell}`, from, to)
  );
}

export const countingChecks: readonly Check[] = [
  check("LIM-9", twoKeysUsed, ({ before, between, after, lost }) => {
    const missing = unprovenUnlessAdmitted(before, ...between, after) ?? remainingUnreliable(...between);
    if (missing !== null) return missing;
    const fall = fallBetween(sampleOf(before), sampleOf(after));
    if (fall === null) return incomparable("the responses to the second key");
    if (fall.fell <= 1) return holds();
    return (
      unansweredBetween(lost, before, after) ??
      breach(
        "`Remaining` of a key falls by 1 with its own request",
        `it fell by ${fall.fell}, with ${between.length} requests of another key in between`,
        before,
        after,
      )
    );
  }),
  check("LIM-11", allowanceWatched, ({ first, before, streams, afterStreams, afterHealth, lost }) => {
    if (streams.length === 0) return unproven("no agent is known to stream", "agents.streaming in the target file");
    const missing =
      unprovenUnlessAdmitted(first, before, ...streams, afterStreams) ??
      remainingUnreliable(first, before, afterStreams, afterHealth);
    if (missing !== null) return missing;
    const fall = fallBetween(sampleOf(before), sampleOf(afterStreams));
    if (fall === null) return incomparable("the responses before and after the stream");
    const expected = streams.length + 1;
    const isRight = fall.fell <= expected && fall.fell >= expected - fall.mayRegain;
    if (isRight && streams.every(({ answer }) => answer.kind === "answered" && answer.events.length < 3))
      return unproven("the stream has too few events to prove anything", "agents.streaming in the target file");
    if (isRight) return holds();
    const what = streams.length === 1 ? "one stream" : `${streams.length} streams`;
    return (
      unansweredBetween(lost, before, afterStreams) ??
      breach(
        `\`Remaining\` falls by ${expected} with ${what} and an invoke`,
        `it fell by ${fall.fell}`,
        before,
        ...streams,
        afterStreams,
      )
    );
  }),
  check("LIM-23", allowanceWatched, ({ first, before, afterHealth, strangers, afterStrangers, lost }) =>
    strangers.some(isSuccess)
      ? unproven("an invalid key was accepted")
      : (remainingUnreliable(first, before, afterStrangers) ??
        judgeOnlyLastCounted(lost, afterHealth, afterStrangers, `${strangers.length} requests with invalid keys`)),
  ),
  check("LIM-25", allowanceWatched, ({ first, before, afterHealth, afterStrangers, spelled, afterSpelled }) => {
    const missing =
      unprovenUnlessAdmitted(afterStrangers, afterSpelled) ??
      remainingUnreliable(first, before, afterHealth, afterStrangers);
    if (missing !== null) return missing;
    const admitted = spelled.filter(isSuccess);
    // If the target rejects all unusual spellings, such as `bearer`, no spelling can bypass the limit.
    if (admitted.length === 0) return holds();
    const from = sampleOf(afterStrangers);
    const fall = fallBetween(from, sampleOf(afterSpelled));
    if (fall === null) return incomparable("the responses before and after");
    const separate = admitted.find((each) => {
      const own = fallBetween(from, sampleOf(each));
      return own === null ? hasMoreLeft(each, afterStrangers) : own.fell < 1 - own.mayRegain;
    });
    const expected = admitted.length + 1;
    if (separate === undefined && fall.fell >= expected - fall.mayRegain) return holds();
    return breach(
      `\`Remaining\` falls by ${expected} with ${admitted.length} requests with another spelling of the header, and one more`,
      `it fell by ${fall.fell}: the other spelling has an allowance of its own`,
      ...admitted,
      afterSpelled,
    );
  }),
  check("HLT-16", allowanceWatched, ({ first, before, afterStreams, health, afterHealth, lost }) =>
    health.some(isSuccess)
      ? (remainingUnreliable(first, before, afterStreams) ??
        judgeOnlyLastCounted(lost, afterStreams, afterHealth, `${health.length} health calls`))
      : unproven(`health failed (${health.map(outcomeOf).join(", ")})`),
  ),
];

/** Whether `Remaining` is at least 2 above that of `before`, e.g. 9 after 7. This shows a separate allowance. */
function hasMoreLeft(exchange: Exchange, before: Exchange): boolean {
  const [a, b] = [sampleOf(exchange), sampleOf(before)];
  return a.limit === b.limit && (a.remaining ?? 0) > (b.remaining ?? 0) + 1;
}
