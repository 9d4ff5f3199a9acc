import { setTimeout as sleep } from "node:timers/promises";

import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { agentPath, type Client } from "../../run/send/client.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { WaitRefused } from "../../run/skip-reason.ts";
import { slotReleaseMs, minuteOverMs } from "../../rules/limits/key-history.ts";

export const hello = { query: "hello" } as const;

/** Number of requests to send concurrently. Half of the slots, because a server may release a slot a moment after its response. */
export const concurrencyFor = ({ concurrent }: TierLimits): number =>
  Math.min(16, Math.max(1, Math.floor(concurrent / 2)));

/** Result of a burst. `failing`: several responses in a row were neither a success nor a 429. */
export interface BurstResult {
  readonly admitted: number;
  /** How many of the admitted requests were invokes. */
  readonly invoked: number;
  readonly end: "refused" | "all sent" | "failing";
}

const mostFailures = 5;

interface Stretching {
  readonly most: number;
  readonly atOnce: number;
  /** How many of the requests, at the start, read usage instead of running an agent. */
  readonly reads: number;
}

/** Sends requests, `atOnce` at a time, until one is refused or `most` were sent. */
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

/** Real pauses between retries. They distinguish a lasting refusal from one for a slot that was released late. */
export const retryPausesMs = [300, 600, 1200] as const;
/** How often a slot that was released late may interrupt a burst. */
const mostHiccups = 12;

/** Result of sending until a refusal lasts. */
export interface ExhaustResult extends BurstResult {
  /** How often a refusal turned out to be for a slot. */
  readonly hiccups: number;
}

/** Options for exhausting an allowance. */
export interface ExhaustOptions {
  readonly most: number;
  readonly expected: number;
  readonly atOnce: number;
  /** Whether reading usage counts. If so, reads use up the allowance, and a few invokes prove that they count too. */
  readonly readsCount: boolean;
  /** Number of expected requests that may have been sent already. */
  readonly filled: number;
  /** Number of admitted requests from which a refusal with `Remaining: 0` is trusted without a retry; `null` for never. */
  readonly believesToldFrom: number | null;
}

/** Minimum number of invokes among the expected requests. */
const leastInvoked = 3;

const readsIn = (expected: number, readsCount: boolean): number =>
  readsCount ? Math.max(0, expected - leastInvoked) : 0;

/** Options of a burst that reads usage instead of invoking as far as possible. */
export const burstOptions = ({ most, expected, atOnce, readsCount, filled }: ExhaustOptions): Stretching => ({
  most,
  atOnce,
  reads: Math.min(most, readsIn(expected - filled, readsCount)),
});

/**
 * Like {@link exhaust}, with a real pause after some admitted requests: a refusal right after the pause is not for a slot
 * that is released late.
 * @param pauseAfter number of requests before the pause; no pause if `null` or out of range
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

/** Like {@link sendUntilRefused}, but retries after a pause if a refusal comes before `expected` requests were admitted. */
export async function exhaust(client: Client, agent: string, plan: ExhaustOptions): Promise<ExhaustResult> {
  const { most, expected } = plan;
  let admitted = 0;
  let invoked = 0;
  for (let hiccups = 0; ; hiccups++) {
    // A limit that refuses reads of usage may apply to reads only.
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

/** Minimum `Reset-After` of an exhausted window. A slot is released sooner. */
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

/** Waits if the run may wait. Returns whether it did. */
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
 * Ensures that a key's window has requests left and lasts some seconds more, so that values within one window can be
 * compared. Waits for the next window otherwise.
 * @throws {WaitRefused} if the wait is longer than the run may wait
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

/** Largest allowance that is exhausted a second time to measure the length of its window. */
export const maxRepeatedAllowance = 200;
