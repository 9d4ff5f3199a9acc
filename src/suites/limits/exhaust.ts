import { setTimeout as sleep } from "node:timers/promises";

import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { agentPath, type Client } from "../../run/send/client.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { WaitRefused } from "../../run/time/wait-budget.ts";
import { slotReleaseMs, minuteOverMs } from "../../rules/limits/key-history.ts";

export const hello = { query: "hello" } as const;

/** Half of the slots: a server may give a slot back a moment after its answer has reached us. */
export const concurrencyFor = ({ concurrent }: TierLimits): number =>
  Math.min(16, Math.max(1, Math.floor(concurrent / 2)));

/** How a stretch of sending ended. `failing`: one answer after another was neither a success nor a 429. */
export interface BurstResult {
  readonly admitted: number;
  /** How many of those were invokes. */
  readonly invoked: number;
  readonly end: "refused" | "all sent" | "failing";
}

const mostFailures = 5;

/** What a stretch of requests is for. */
interface Stretching {
  readonly most: number;
  readonly atOnce: number;
  /** So many of them, the first ones, read usage instead of having an agent run. */
  readonly reads: number;
}

/** Sends as fast as `atOnce` allows, until a request is refused or `most` were sent. */
export async function sendUntilRefused(
  client: Client,
  agent: string,
  { most, atOnce, reads }: Stretching,
  onRefused: (refusal: Sample) => void = () => {},
): Promise<BurstResult> {
  let sent = 0;
  let admitted = 0;
  let invoked = 0;
  let failures = 0;
  let end: BurstResult["end"] = "all sent";
  const worker = async (): Promise<void> => {
    while (sent < most && end === "all sent") {
      const isRead = sent < reads;
      sent += 1;
      const sample = await (isRead ? readSample(client) : invokeSample(client, agent));
      if (isAdmitted(sample)) {
        admitted += 1;
        invoked += Number(!isRead);
        failures = 0;
      } else if (sample.status === 429) {
        end = "refused";
        onRefused(sample);
      } else if (++failures >= mostFailures) end = "failing";
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, most) }, worker));
  return { admitted, invoked, end };
}

const readSample = (client: Client): Promise<Sample> => client.sample("GET", "/usage");

export const invokeSample = (client: Client, agent: string): Promise<Sample> =>
  client.sample("POST", agentPath(agent, "invoke"), { json: hello });

/** Real pauses between the tries that tell a refusal that stays from one for a slot that was given back late. */
export const retryPausesMs = [300, 600, 1200] as const;
/** So often may a late slot interrupt a stretch. */
const mostHiccups = 12;

/** What was admitted until a refusal stayed, and whether one did. */
export interface ExhaustResult extends BurstResult {
  /** How often a refusal turned out to be for a late slot, or for too many at once. */
  readonly hiccups: number;
}

/** How a stretch of sending is to use up an allowance. */
export interface ExhaustOptions {
  readonly most: number;
  readonly expected: number;
  readonly atOnce: number;
  /** Reading usage draws on the allowance: it fills what is expected, and invokes only prove that they count. */
  readonly readsCount: boolean;
  /** So many of what is expected were sent before: they may have used up their part. */
  readonly filled: number;
  /**
   * From so many admitted on, a refusal that says itself that nothing is left of a window which goes on is believed at once, and no slot is
   * looked for behind it; `null`: never.
   */
  readonly believesToldFrom: number | null;
}

/** So many invokes are among what is expected to be admitted. */
const leastInvoked = 3;

const readsIn = (expected: number, readsCount: boolean): number =>
  readsCount ? Math.max(0, expected - leastInvoked) : 0;

/** A plan of requests that does without invokes as far as it can. */
export const burstOptions = ({ most, expected, atOnce, readsCount, filled }: ExhaustOptions): Stretching => ({
  most,
  atOnce,
  reads: Math.min(most, readsIn(expected - filled, readsCount)),
});

/**
 * Like {@link exhaust}, with a real pause once so many were admitted: what is refused right after it is not refused for a slot
 * that is given back late. `null`, or a number that is passed already: no pause.
 */
export async function exhaustWithPause(
  client: Client,
  agent: string,
  plan: ExhaustOptions,
  pauseAfter: number | null,
): Promise<ExhaustResult> {
  if (pauseAfter === null || pauseAfter < 0 || pauseAfter >= plan.most) return exhaust(client, agent, plan);
  const first = await exhaust(client, agent, { ...plan, most: pauseAfter, expected: pauseAfter });
  if (first.end !== "all sent") return first;
  await sleep(slotReleaseMs + 100);
  const rest = { ...plan, most: plan.most - pauseAfter, expected: plan.expected - pauseAfter };
  const second = await exhaust(client, agent, rest);
  return {
    ...second,
    admitted: first.admitted + second.admitted,
    invoked: first.invoked + second.invoked,
    hiccups: first.hiccups + second.hiccups,
  };
}

/** Like {@link sendUntilRefused}; a refusal before `expected` were admitted is tried again after a pause before it is believed. */
export async function exhaust(client: Client, agent: string, plan: ExhaustOptions): Promise<ExhaustResult> {
  const { most, expected } = plan;
  let admitted = 0;
  let invoked = 0;
  for (let hiccups = 0; ; hiccups++) {
    // What refused a read of usage and no invoke may be for reads alone.
    const readsCount = plan.readsCount && hiccups === 0;
    const rest = { ...plan, readsCount, most: most - admitted, expected: expected - admitted };
    let isTold = false;
    const stretch = await sendUntilRefused(client, agent, burstOptions(rest), (refusal) => {
      isTold ||= tellsNoneLeft(refusal);
    });
    admitted += stretch.admitted;
    invoked += stretch.invoked;
    const isEnough = admitted >= expected || (isTold && admitted >= (plan.believesToldFrom ?? expected));
    const isBelieved = stretch.end !== "refused" || isEnough || hiccups >= mostHiccups;
    if (isBelieved || !(await comesBack(client, agent))) return { admitted, invoked, end: stretch.end, hiccups };
    admitted += 1;
    invoked += 1;
  }
}

/** A slot is free again sooner. */
const goesOnSeconds = 5;

const tellsNoneLeft = ({ remaining, resetAfter }: Sample): boolean =>
  remaining === 0 && resetAfter !== null && resetAfter >= goesOnSeconds;

async function comesBack(client: Client, agent: string): Promise<boolean> {
  for (const pauseMs of retryPausesMs) {
    await sleep(pauseMs);
    if (isAdmitted(await invokeSample(client, agent))) return true;
  }
  return false;
}

/** Waits where the run may; tells whether it did. */
export async function waitIfAllowed(time: RunClock, ms: number, why: string): Promise<boolean> {
  try {
    await time.passTime(ms, why);
    return true;
  } catch (error) {
    if (error instanceof WaitRefused) return false;
    throw error;
  }
}

/**
 * Sees to it that a key's window has room for `requests` and lasts for some seconds more, so that values of one window can
 * be compared; waits for the next window otherwise.
 * @throws {WaitRefused} where that takes longer than the run may wait
 */
export async function ensureAllowance(
  { key }: Client,
  requests: number,
  { time, recorder, perMinute }: { readonly time: RunClock; readonly recorder: Recorder; readonly perMinute: number },
): Promise<void> {
  const counted = recorder.samplesOf(key.name).filter(({ kind, status }) => kind !== "health" && status !== null);
  const last = counted.at(-1);
  if (last === undefined) return;
  const why = `${requests === 1 ? "a request on" : `${requests} requests on`} ${key.name} must find room in a window`;
  const now = time.targetMs();
  const recent = counted.filter((each) => each.headMs + each.headClockMs > now - minuteOverMs);
  if (recent.length + requests > perMinute) return time.passTime(minuteOverMs, why);
  if (last.remaining === null || last.resetAfter === null) return;
  const leftMs = last.resetAfter * 1000 - (now - last.headMs - last.headClockMs);
  if (leftMs > 0 && (last.remaining <= requests || leftMs < 5000)) await time.passTime(leftMs + 1000, why);
}

/** Larger allowances are not used up a second time only to see how long their windows are. */
export const maxRepeatedAllowance = 200;
