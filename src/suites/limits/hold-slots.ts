import { setTimeout as sleep } from "node:timers/promises";

import type { Exchange } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import type { TierProbeContext } from "../../run/probe.ts";
import type { Client } from "../../run/send/client.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { RoleAssignment } from "../../target/target.ts";
import { hasStatus } from "../shared/response.ts";
import { helloBody, unpaced, waitIfAllowed } from "./exhaust.ts";

// This file has functions that hold all concurrency slots of a key, and retry if a slot is released late.

/** Real time in ms before each try, because a server may release a slot some time after its response. */
export const pausesMs = [0, 400, 1200] as const;
export const maxSlowMs = 60_000;

/** Maximum number of slots of a key that a probe tests. More would take too many requests. */
const maxTestedSlots = 40;
export const triesBeyondSlots = ({ concurrent }: TierLimits): number => Math.min(maxTestedSlots, concurrent) + 1;

/** Returns the options `requests` and `waitSeconds` of a probe that sends more requests than a key has slots. */
export const requestsAndWait = (requestsOfTries: (tries: number) => number) => {
  const requests = ({ limits }: { readonly limits: TierLimits }): number => requestsOfTries(triesBeyondSlots(limits));
  return {
    requests,
    waitSeconds: (tested: { readonly limits: TierLimits }): number =>
      requests(tested) > tested.limits.perMinute ? 62 : 0,
  };
};

/** Sends up to `tries` requests in a row, until one is refused with 429 or `isEnough` is true. */
export async function repeatUntilRefused(
  before: Exchange,
  tries: number,
  send: () => Promise<Exchange>,
  isEnough: (sent: readonly Exchange[]) => boolean = () => false,
): Promise<Exchange[]> {
  const sent: Exchange[] = [];
  while (sent.length < tries && !hasStatus(sent.at(-1) ?? before, 429) && !isEnough(sent)) sent.push(await send());
  return sent;
}

/** Waits for a response, at most one second. A server that has not responded by then has queued the request. */
export const awaitBriefly = (finished: Promise<unknown>): Promise<unknown> =>
  Promise.race([finished, sleep(1000, null, { ref: false })]);

/**
 * Holds all slots of a key. Retries after a refusal, and with longer pauses if slow responses may have freed a slot.
 *
 * @param hold holds the slots, with a real pause of `tripMs` after each advance of the test clock
 * @param heldOf returns the requests of a result that must hold slots
 */
export async function holdAllSlots<T>(
  hold: (tripMs: number) => Promise<T>,
  heldOf: (result: T) => readonly Exchange[],
  isExtraAdmitted: (result: T) => boolean,
  { time, recorder, tested: { key } }: Pick<TierProbeContext, "time" | "recorder" | "tested">,
): Promise<T> {
  const isRefused = (result: T): boolean => heldOf(result).some((each) => hasStatus(each, 429));
  const estimateMs = (): number => estimateTripMs(recorder.samplesOf(key.name));
  const firstTripMs = slowRuns.has(recorder) ? estimateMs() : quickTripMs;
  let result = await hold(firstTripMs);
  for (const pauseMs of runsLackingSlots.has(recorder) ? [] : pausesMs.slice(1)) {
    if (!isRefused(result)) break;
    await sleep(pauseMs);
    result = await hold(firstTripMs);
  }
  if (isRefused(result)) runsLackingSlots.add(recorder);
  const tripMs = estimateMs();
  const isOutrun = tripMs > Math.max(outrunTripMs, firstTripMs);
  if (!agentsFollowClock(time) || !isExtraAdmitted(result) || !isOutrun) return result;
  slowRuns.add(recorder);
  return hold(tripMs);
}

/** Runs in which some tier had too few slots; the run's other tiers get only one try. */
const runsLackingSlots = new WeakSet<Recorder>();
/** Runs in which slots were held again with longer pauses. Other tiers then have the longer pauses at once. */
const slowRuns = new WeakSet<Recorder>();

/** Whether agents follow the test clock that the run advances. Otherwise agents take real time. */
export const agentsFollowClock = (time: RunClock): boolean => time.canAdvance && !time.agentsUseRealTime();

/** Real pause after each advance of the test clock, so that responses in transit arrive. */
const quickTripMs = 2;
/** If a round trip takes longer than this, the slots may be held a second time, with longer pauses. */
const outrunTripMs = 40;
/** Maximum real pause after each advance of the test clock. */
const maxTripMs = 1500;

/** Estimates a round trip as twice the time of the slowest response to a request that runs no agent. */
function estimateTripMs(samples: readonly Sample[]): number {
  const trips = samples.flatMap(({ kind, status, sentMs, headMs, sentClockMs, headClockMs }) =>
    status !== null && (kind === "health" || kind === "other") && sentClockMs === headClockMs ? [headMs - sentMs] : [],
  );
  return Math.min(maxTripMs, 2 * Math.max(0, ...trips));
}

/** One advance of the test clock, in ms; times by the target's clock are known only to this precision. */
export const stepMs = 500;

/** Invokes an agent. If the response is a 429, retries after each pause of `pausesMs`. */
export async function invokeWithRetries(
  client: Client,
  agent: string | RoleAssignment,
  body: object = helloBody,
): Promise<Exchange> {
  let last: Exchange | null = null;
  for (const pauseMs of pausesMs) {
    if (pauseMs > 0) await sleep(pauseMs);
    last = await client.invoke(agent, body, unpaced);
    if (!hasStatus(last, 429)) break;
  }
  return last ?? client.invoke(agent, body, unpaced);
}

/** Invokes an agent, and after a 429 again a minute later, when only a slot that was never released is taken. */
export async function invokeAfterMinute(client: Client, agent: string, time: RunClock): Promise<Exchange> {
  const after = await invokeWithRetries(client, agent);
  if (!hasStatus(after, 429)) return after;
  return (await waitIfAllowed(time, 61_000, "an exhausted rate must be ruled out"))
    ? invokeWithRetries(client, agent)
    : after;
}
