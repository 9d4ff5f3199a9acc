import { setTimeout as sleep } from "node:timers/promises";

import type { Exchange } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import type { Client } from "../../run/send/client.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { RoleAssignment } from "../../target/target.ts";
import { hasStatus } from "../shared/response.ts";
import { hello, unpaced, waitIfAllowed } from "./exhaust.ts";

// Functions for probes that hold all concurrency slots of a key. They retry while the server may not have released a
// slot yet.

/** Milliseconds of real time to wait before each try. A server may release a slot some time after its response. */
export const pausesMs = [0, 400, 1200] as const;
export const maxSlowMs = 60_000;

/** A key's slots are all tested up to this number. Testing more slots would take too many requests. */
const maxTestedSlots = 40;
export const triesFor = ({ concurrent }: TierLimits): number => Math.min(maxTestedSlots, concurrent) + 1;

/**
 * Request count and waiting time of a probe that sends more requests than there are slots. The wait is needed if the
 * requests exceed the minute's limit.
 */
export const costOfTries = (requestsOfTries: (tries: number) => number) => {
  const requests = ({ limits }: { readonly limits: TierLimits }): number => requestsOfTries(triesFor(limits));
  return {
    requests,
    waitSeconds: (tested: { readonly limits: TierLimits }): number =>
      requests(tested) > tested.limits.perMinute ? 62 : 0,
  };
};

/**
 * Sends requests in sequence. Stops after a 429, after `tries` requests, or when `isEnough` is met. Sends none if
 * `before` is a 429.
 */
export async function sendUntilRefused(
  before: Exchange,
  tries: number,
  send: () => Promise<Exchange>,
  isEnough: (sent: readonly Exchange[]) => boolean = () => false,
): Promise<Exchange[]> {
  const sent: Exchange[] = [];
  while (sent.length < tries && !hasStatus(sent.at(-1) ?? before, 429) && !isEnough(sent)) sent.push(await send());
  return sent;
}

/** Waits for a response, at most one second. A request without a response after that time is queued for a slot. */
export const settledOrWaiting = (finished: Promise<unknown>): Promise<unknown> =>
  Promise.race([finished, sleep(1000, null, { ref: false })]);

/**
 * Holds all slots of a key. Retries after a pause while some requests are refused.
 *
 * An advance of the test clock leaves no real time for responses in transit. If an extra request was admitted and
 * responses are slow, the slots are therefore held once more at a slower pace.
 */
export async function holdAtPace<T>(
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

/** Whether agents follow the test clock that the run advances. Otherwise agents take real time. */
export const agentsFollowClock = (time: RunClock): boolean => time.canAdvance && !time.agentsUseRealTime();

/**
 * Real pause after each advance of the test clock, for responses in transit. If round trips take longer than
 * `outrunTripMs`, the pause is longer too.
 */
const quickTripMs = 2;
const outrunTripMs = 40;
const maxTripMs = 1500;

/**
 * Estimates the time of a round trip: twice the longest time that a request on this key took without running an agent.
 */
function estimateTripMs(samples: readonly Sample[]): number {
  const trips = samples.flatMap(({ kind, status, sentMs, headMs, sentClockMs, headClockMs }) =>
    status !== null && (kind === "health" || kind === "other") && sentClockMs === headClockMs ? [headMs - sentMs] : [],
  );
  return Math.min(maxTripMs, 2 * Math.max(0, ...trips));
}

/** Step by which the test clock is advanced. The time of a response is known only to this precision. */
export const stepMs = 500;

/** Invokes an agent. If the response is a 429, retries after each pause of `pausesMs`. */
export async function invokeWithRetries(
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

/**
 * Invokes an agent, and retries after a minute if the response is a 429. After a minute the request rate has recovered,
 * but a slot that was never released is still taken.
 */
export async function invokeAfterMinute(client: Client, agent: string, time: RunClock): Promise<Exchange> {
  const after = await invokeWithRetries(client, agent);
  if (!hasStatus(after, 429)) return after;
  return (await waitIfAllowed(time, 61_000, "an exhausted rate must be ruled out"))
    ? invokeWithRetries(client, agent)
    : after;
}
