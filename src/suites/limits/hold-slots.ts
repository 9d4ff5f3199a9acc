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

/** Pauses before the first try and each retry. A target can free a concurrency slot some time after its response. */
export const pausesMs = [0, 400, 1200] as const;
export const maxHeldMs = 60_000;

/**
 * Maximum number of slots that failing requests try to use up. More slots would take too many requests. On a key with
 * more slots than tries, the checks can find a breach, but do not pass.
 */
const maxTestedSlots = 40;
/** Number of failing requests to send, e.g. 4 for 3 slots. If no failure freed its slot, the fourth would get 429. */
export const triesBeyondSlots = ({ concurrent }: TierLimits): number => Math.min(maxTestedSlots, concurrent) + 1;

/** Returns a probe's number of requests and its wait: 62 s if it sends more requests than a minute admits, else 0. */
export const requestsAndWait = (requestsOfTries: (tries: number) => number) => {
  const requests = ({ limits }: { readonly limits: TierLimits }): number => requestsOfTries(triesBeyondSlots(limits));
  return {
    requests,
    waitSeconds: (tested: { readonly limits: TierLimits }): number =>
      requests(tested) > tested.limits.perMinute ? 62 : 0,
  };
};

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

/** Waits at most one second for the response. A slower response probably means that the server queued the request. */
export const awaitBriefly = (finished: Promise<unknown>): Promise<unknown> =>
  Promise.race([finished, sleep(1000, null, { ref: false })]);

/**
 * Calls `hold`, which occupies all concurrency slots of a key. Calls it again if the target refused one of the requests
 * that should occupy a slot. On a slow connection, calls it again with a longer `tripMs` if one request too many was
 * admitted: the test clock may have advanced before the responses arrived.
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

/** Recorders of runs in which the target refused requests despite all retries. `holdAllSlots` then retries no more. */
const runsLackingSlots = new WeakSet<Recorder>();
/** Recorders of the runs that have a slow connection. In these runs, `holdAllSlots` makes longer pauses. */
const slowRuns = new WeakSet<Recorder>();

export const agentsFollowClock = (time: RunClock): boolean => time.canAdvance && !time.agentsUseRealTime();

/** Usual pause before each advance of the test clock. During this time, responses can arrive. */
const quickTripMs = 2;
/** If twice the longest round trip exceeds this, the test clock may advance before responses arrive. */
const outrunTripMs = 40;
const maxTripMs = 1500;
/**
 * Number of first round trips to ignore, because a cold server answers slowly. If only 40 or fewer were measured,
 * ignores none.
 */
const coldTrips = 20;

function estimateTripMs(samples: readonly Sample[]): number {
  const trips = samples.flatMap(({ kind, status, sentMs, headMs, sentClockMs, headClockMs }) =>
    status !== null && (kind === "health" || kind === "other") && sentClockMs === headClockMs ? [headMs - sentMs] : [],
  );
  return Math.min(maxTripMs, 2 * Math.max(0, ...trips.slice(trips.length > 2 * coldTrips ? coldTrips : 0)));
}

/** The test clock advances in steps of this size, so measured times are only this precise. */
export const stepMs = 500;

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

/** Invokes an agent. After a 429, tries again a minute later, to rule out the rate limit as the cause. */
export async function invokeAndRetryAfterMinute(client: Client, agent: string, time: RunClock): Promise<Exchange> {
  const after = await invokeWithRetries(client, agent);
  if (!hasStatus(after, 429)) return after;
  return (await waitIfAllowed(time, 61_000, "an exhausted rate must be ruled out"))
    ? invokeWithRetries(client, agent)
    : after;
}
