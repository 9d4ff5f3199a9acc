import { setTimeout as sleep } from "node:timers/promises";

import type { Exchange } from "../../evidence/exchange.ts";
import { minuteOverMs, slotReleaseMs } from "../../rules/limits/key-history.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import { agentPath, type Client } from "../../run/send/client.ts";
import type { Recorder } from "../../run/send/recorder.ts";
import { WaitRefused } from "../../run/skip-reason.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { TargetKey } from "../../target/target.ts";
import type { CountedRead } from "./key-history.ts";

export const helloBody = { query: "hello" } as const;

/** Request options: send at once, without waiting for the key's rate limit. */
export const unpaced = { unpaced: true } as const;

export interface KeySender {
  readonly client: Client;
  readonly agent: string;
  readonly limits: TierLimits;
  readonly time: RunClock;
  readonly countedRead: CountedRead | null;
}

export const invokeUnpaced = ({ client, agent }: KeySender): Promise<Exchange> =>
  client.invoke(agent, helloBody, unpaced);

export const invokeSample = ({ client, agent }: KeySender): Promise<Sample> =>
  client.sample("POST", agentPath(agent, "invoke"), { json: helloBody });

/** Result of {@link sendUntilRefused}. `end` is `failing` if several requests in a row got no success and no 429. */
export interface BurstResult {
  readonly admitted: number;
  /** Number of requests that got neither a success nor a 429. The limiter possibly counted these requests. */
  readonly failed: number;
  /** Number of admitted requests that were invokes, not GET requests. */
  readonly invoked: number;
  readonly end: "refused" | "all sent" | "failing";
}

export interface ExhaustOptions {
  readonly max: number;
  readonly expected: number;
  /** Number of requests that already count in the window. With 5, the burst changes to invokes 5 requests earlier. */
  readonly alreadySent?: number;
  /** After this many admissions, a 429 that reports a used-up limit ends the burst unretried. Default: `expected`. */
  readonly trustedFrom?: number;
  /**
   * Number of admissions beyond `expected` that a burst allowance explains. GET requests use them up, but for some
   * invokes at both ends. Default: 0.
   */
  readonly burst?: number;
  readonly isReadAt?: (index: number) => boolean;
  readonly onRefused?: (refusal: Sample) => void;
}

const shortListPath = "/agents?page=1&limit=2";
export const countedReadPath = (read: CountedRead | null): string => (read === "list" ? shortListPath : "/usage");
const maxFailures = 4;
/** Minimum number of invokes on each side of a limit. They prove that the limit holds for invokes, too. */
const minInvoked = 3;

/**
 * Sends requests until one is refused, several in a row fail, or `max` are sent. If GET requests count, starts with
 * them, because they run no agent. Near the limit and beyond it, sends invokes. If a GET request in the burst is
 * refused, goes on with invokes: a server may grant a burst to invokes only.
 */
export async function sendUntilRefused(
  sender: KeySender,
  { max, expected, alreadySent = 0, burst = 0, isReadAt, onRefused = () => {} }: ExhaustOptions,
): Promise<BurstResult> {
  const { client, limits } = sender;
  let { countedRead } = sender;
  const left = expected - alreadySent;
  const isInBurst = (index: number): boolean => index >= left + minInvoked && index < left + burst - minInvoked;
  const isRead = isReadAt ?? ((index: number) => index < left - minInvoked || isInBurst(index));
  const path = countedReadPath(countedRead);
  // Uses only half of the concurrency slots, because a server may free a slot a moment after its response.
  const concurrency = Math.min(16, max, Math.max(1, Math.floor(limits.concurrent / 2)));
  let sent = 0;
  let admitted = 0;
  let invoked = 0;
  let failed = 0;
  let failureCount = 0;
  let end: BurstResult["end"] = "all sent";
  const worker = async (): Promise<void> => {
    while (sent < max && end === "all sent") {
      const index = sent;
      const sendsRead = countedRead !== null && isRead(index);
      sent += 1;
      const sample = await (sendsRead ? client.sample("GET", path) : invokeSample(sender));
      if (isAdmitted(sample)) {
        admitted += 1;
        invoked += Number(!sendsRead);
        failureCount = 0;
      } else if (sample.status === 429 && sendsRead && isInBurst(index)) {
        countedRead = null;
        sent -= 1;
      } else if (sample.status === 429) {
        end = "refused";
        onRefused(sample);
      } else {
        failed += 1;
        if (++failureCount >= maxFailures) end = "failing";
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { admitted, failed, invoked, end };
}

/** Pauses before the retries 1, 2 and 3 of a refused request. A server can free concurrency slots late. */
export const retryPausesMs = [300, 600, 1200] as const;
const maxRetriedRefusals = 12;

export interface ExhaustResult extends BurstResult {
  /** Number of refused requests whose retry was admitted. The server probably freed a concurrency slot late. */
  readonly hiccups: number;
}

/**
 * Like {@link exhaustAllowance}, but pauses after `pauseAfter` admissions, so that the server frees all concurrency
 * slots. `null`: no pause.
 */
export async function exhaustWithPause(
  sender: KeySender,
  options: ExhaustOptions,
  pauseAfter: number | null,
): Promise<ExhaustResult> {
  const { max, expected, isReadAt } = options;
  if (pauseAfter === null || pauseAfter < 0 || pauseAfter >= max) return exhaustAllowance(sender, options);
  const first = await exhaustAllowance(sender, { ...options, max: pauseAfter, expected: pauseAfter });
  if (first.end !== "all sent") return first;
  await sleep(slotReleaseMs + 100);
  const second = await exhaustAllowance(sender, {
    ...options,
    max: max - pauseAfter,
    expected: expected - pauseAfter,
    ...(isReadAt && { isReadAt: (index: number) => isReadAt(index + pauseAfter) }),
  });
  return {
    ...second,
    admitted: first.admitted + second.admitted,
    failed: first.failed + second.failed,
    invoked: first.invoked + second.invoked,
    hiccups: first.hiccups + second.hiccups,
  };
}

/**
 * Like {@link sendUntilRefused}, but retries a refusal before `expected` admissions, because a slot that is freed late
 * can cause it. Continues the burst if the retry is admitted.
 */
export async function exhaustAllowance(sender: KeySender, options: ExhaustOptions): Promise<ExhaustResult> {
  const { max, expected, trustedFrom = expected } = options;
  let admitted = 0;
  let failed = 0;
  let invoked = 0;
  for (let hiccups = 0; ; hiccups++) {
    // After a refusal, sends only invokes: GET requests may have a limit of their own.
    const countedRead = hiccups === 0 ? sender.countedRead : null;
    const rest = { ...options, max: max - admitted, expected: expected - admitted };
    let reportsExhaustion = false;
    const onRefused = (refusal: Sample): void => {
      const { remaining, resetAfter } = refusal;
      reportsExhaustion ||= remaining === 0 && resetAfter !== null && resetAfter >= minResetAfterSeconds;
      options.onRefused?.(refusal);
    };
    const burst = await sendUntilRefused({ ...sender, countedRead }, { ...rest, onRefused });
    admitted += burst.admitted;
    failed += burst.failed;
    invoked += burst.invoked;
    const isEnough = admitted >= expected || (reportsExhaustion && admitted >= trustedFrom);
    const isTrusted = burst.end !== "refused" || isEnough || hiccups >= maxRetriedRefusals;
    if (isTrusted || !(await isAdmittedOnRetry(sender))) return { admitted, failed, invoked, end: burst.end, hiccups };
    admitted += 1;
    invoked += 1;
  }
}

/**
 * Minimum `Reset-After` of a 429 that reports a used-up rate limit. A 429 with a smaller value can mean that all
 * concurrency slots are in use.
 */
const minResetAfterSeconds = 5;

async function isAdmittedOnRetry(sender: KeySender): Promise<boolean> {
  for (const pauseMs of retryPausesMs) {
    await sleep(pauseMs);
    if (isAdmitted(await invokeSample(sender))) return true;
  }
  return false;
}

/** Request options with invalid JSON as the body, so that an admitted request creates nothing. */
const malformed = { ...unpaced, text: '{"url": "https://' } as const;

/**
 * Requests other endpoints than invoke while a key's limit is used up: stream and list, and if `isThorough`, six more.
 * Returns the exchange of the stream request.
 */
export async function requestOtherEndpoints({ client, agent }: KeySender, isThorough: boolean): Promise<Exchange> {
  const streamOptions = { ...unpaced, json: helloBody, accept: "text/event-stream" };
  const stream = await client.send("POST", agentPath(agent, "stream"), streamOptions);
  await client.send("GET", shortListPath, unpaced);
  if (!isThorough) return stream;
  await client.send("GET", "/usage", unpaced);
  await client.send("GET", "/keys/usage", unpaced);
  await client.send("GET", "/webhooks/no-such-webhook-7f3a/deliveries", unpaced);
  await client.send("GET", "/operations/no-such-operation-7f3a", unpaced);
  await client.send("POST", "/webhooks", malformed);
  await client.send("POST", "/alerts", malformed);
  return stream;
}

/** Calls `send` and returns its result; `null` if `send` needs a wait that the run does not allow. */
export async function unlessWaitRefused<T>(send: () => Promise<T>): Promise<T | null> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof WaitRefused) return null;
    throw error;
  }
}

export async function waitIfAllowed(time: RunClock, ms: number, why: string): Promise<boolean> {
  return (await unlessWaitRefused(() => time.passTime(ms, why))) !== null;
}

/** Returns the key's samples with a response head after `sinceMs`, without health requests, which no limit counts. */
export const samplesSince = (recorder: Recorder, { name }: TargetKey, sinceMs: number): Sample[] =>
  recorder.samplesOf(name).filter(({ kind, headMs }) => kind !== "health" && headMs > sinceMs);

/**
 * Waits for the next window if the current window has too little time or allowance left for all `requests`.
 *
 * @throws {WaitRefused} if the run is not allowed to wait that long
 */
export async function ensureAllowance(
  { key }: Client,
  requests: number,
  { time, recorder, perMinute }: { readonly time: RunClock; readonly recorder: Recorder; readonly perMinute: number },
): Promise<void> {
  const counted = recorder.samplesOf(key.name).filter(({ kind, status }) => kind !== "health" && status !== null);
  const last = counted.at(-1);
  if (last === undefined) return;
  const why = `${requests === 1 ? "a request" : `${requests} requests`} of ${key.name} must be left in a window`;
  const now = time.targetMs();
  const recent = counted.filter((each) => each.headMs + each.headClockMs > now - minuteOverMs);
  if (recent.length + requests > perMinute) return time.passTime(minuteOverMs, why);
  if (last.remaining === null || last.resetAfter === null) return;
  const leftMs = last.resetAfter * 1000 - (now - last.headMs - last.headClockMs);
  if (leftMs > 0 && (last.remaining <= requests || leftMs < 5000)) await time.passTime(leftMs + 1000, why);
}
