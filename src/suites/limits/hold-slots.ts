import { setTimeout as sleep } from "node:timers/promises";

import type { Exchange } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import type { Client } from "../../run/send/client.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { RoleAssignment } from "../../target/target.ts";
import { hasStatus } from "../shared/response.ts";
import { hello, unpaced, waitIfAllowed } from "./exhaust.ts";

// Functions by which probes hold all slots of a key, and try again while a slot may still be held.

/** Real pauses before each try, because a server may release slots late. */
export const pausesMs = [0, 400, 1200] as const;
export const maxSlowMs = 60_000;

/** Maximum number of slots for which the probes test all slots. More would take too many requests. */
const maxTestedSlots = 40;
export const triesFor = ({ concurrent }: TierLimits): number => Math.min(maxTestedSlots, concurrent) + 1;

/**
 * The number of requests of a probe that uses up all slots several times, and how long it waits if they exceed the
 * minute's limit.
 */
export const costOfTries = (requestsOfTries: (tries: number) => number) => {
  const requests = ({ limits }: { readonly limits: TierLimits }): number => requestsOfTries(triesFor(limits));
  return {
    requests,
    waitSeconds: (tested: { readonly limits: TierLimits }): number =>
      requests(tested) > tested.limits.perMinute ? 62 : 0,
  };
};

/** Sends requests in sequence, until one is refused with 429 or enough were sent. */
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

/** Waits for a response, but at most one second: a request without a response by then is waiting for a slot. */
export const settledOrWaiting = (finished: Promise<unknown>): Promise<unknown> =>
  Promise.race([finished, sleep(1000, null, { ref: false })]);

/**
 * Holds all slots. Tries again after a pause while some requests are refused. An advance of the clock leaves no real
 * time for responses in transit. So if an extra request was admitted and responses are slow, the slots are held once
 * more at a slower pace.
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

/** Whether agents follow the clock that the run advances. Otherwise they take real time. */
export const agentsFollowClock = (time: RunClock): boolean => time.canAdvance && !time.agentsUseRealTime();

/**
 * Real pause for responses at each step of the advanced clock. Round trips longer than `outrunTripMs` need longer
 * pauses.
 */
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
export const stepMs = 500;

/** Invokes an agent. As long as the response is a 429, tries again after each pause. */
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
 * Retries once more after a minute. An exhausted rate recovers in the next minute, but a slot that was never released
 * does not.
 */
export async function invokeAfterMinute(client: Client, agent: string, time: RunClock): Promise<Exchange> {
  const after = await invokeWithRetries(client, agent);
  if (!hasStatus(after, 429)) return after;
  return (await waitIfAllowed(time, 61_000, "an exhausted rate must be ruled out"))
    ? invokeWithRetries(client, agent)
    : after;
}
