import { isSegment } from "../../base/http.ts";
import { type Exchange, type Header, statusOf } from "../../evidence/exchange.ts";
import { retryAfterSeconds, type Sample, sampleOf, wholeNumberHeader } from "../../rules/limits/sample.ts";
import { headerNames } from "../../spec/headers.ts";
import { firstRequirementSet, type RequirementSet } from "../../spec/clause.ts";
import { type OwnRequestTarget, withOwnFields } from "../../target/own-request.ts";
import type { TargetKey } from "../../target/target.ts";
import type { OutgoingRequest, PendingExchange, Transport } from "../../wire/transport.ts";
import type { RunBounds } from "../plan/bounds.ts";
import { SkipError, TargetLost, UnsendablePath, WaitRefused } from "../skip-reason.ts";
import type { RunClock } from "../time/run-clock.ts";
import type { OutageMonitor } from "./outages.ts";
import type { Pacer } from "./pacer.ts";
import type { Recorder } from "./recorder.ts";
import { hasTimedOut, hasTooLongHead, isConnectionLost, isLostWithTarget, isUnreachable, mayRetry } from "./retry.ts";
import { type ClientRequest, type SendGuard, type SendOptions, usesClientKey } from "./send-guard.ts";
import { isLastEvent } from "./timeout-policy.ts";

export interface ClientContext extends Omit<RunBounds, "maxTimeMs"> {
  readonly baseUrl: string;
  readonly requestTarget: OwnRequestTarget;
  readonly transport: Transport;
  readonly recorder: Recorder;
  readonly pacer: Pacer;
  readonly time: RunClock;
  readonly outages: OutageMonitor;
  readonly maxRequests: number;
  readonly signal: AbortSignal;
}

export interface SharedClientState extends ClientContext {
  readonly guard: SendGuard;
  /** Number of outages before the current probe began. After any further outage, requests throw {@link TargetLost}. */
  readonly outagesBefore: number;
  readonly since: RequirementSet;
  readonly onAdmitted?: ((executions: number) => void) | undefined;
}

const isHealth = ({ path }: ClientRequest): boolean => path.endsWith("/health");

/** Maximum number of retries after a 429. An `unpaced` request is not repeated, because it may test a limit. */
const maxRateLimitRetries = 2;

/** Sends a request. Repeats it after a 429: after `retry_after` or, if all slots were busy, once one may be free. */
export async function sendAndRetry(shared: SharedClientState, key: TargetKey, call: ClientRequest): Promise<Exchange> {
  for (let retries = 0; ; retries++) {
    const exchange = await sendWithNetworkRetries(shared, key, call);
    if (statusOf(exchange) !== 429 || call.options.unpaced === true || isHealth(call)) return exchange;
    if (retries >= maxRateLimitRetries) return exchange;
    if (usesClientKey(call) && isConcurrencyRefusal(exchange)) {
      if (shared.pacer.hasLostSlots(key)) return exchange;
      continue;
    }
    try {
      await shared.time.passTime(((retryAfterSeconds(exchange) ?? 1) + 0.2) * 1000, "the target responded with 429");
    } catch (error) {
      if (error instanceof WaitRefused) return exchange;
      throw error;
    }
  }
}

/** Whether a 429 comes from the concurrency limit: `Remaining` is above 0, and `retry_after` is at most 2 s. */
const isConcurrencyRefusal = (exchange: Exchange): boolean =>
  statusOf(exchange) === 429 &&
  (wholeNumberHeader(exchange, headerNames.rateRemaining) ?? 0) > 0 &&
  (retryAfterSeconds(exchange) ?? 0) <= 2;

/** Pause before each retry, in ms: two retries after a broken connection, one after a timeout of a slow target. */
const retryPausesMs = { connectionLost: [50, 500], timedOut: [2000] } as const;

async function sendWithNetworkRetries(
  shared: SharedClientState,
  key: TargetKey,
  call: ClientRequest,
): Promise<Exchange> {
  const { recorder, time, pacer } = shared;
  let exchange = await sendOnce(shared, key, call);
  // The request did not reach the target, which now accepts connections again. Sending the request again is safe.
  if (isUnreachable(exchange) && exchange.reconnect === "accepted") exchange = await sendOnce(shared, key, call);
  if (isLostWithTarget(exchange)) return exchange;
  if (!mayRetry(call.method, call.path, call.options)) return exchange;
  for (const ms of retryPausesMs.connectionLost) {
    if (!isConnectionLost(exchange) || hasTooLongHead(exchange) || isLostWithTarget(exchange)) break;
    recorder.countLost();
    await time.sleepReal(ms);
    exchange = await sendOnce(shared, key, call);
  }
  for (const ms of retryPausesMs.timedOut) {
    if (!hasTimedOut(exchange) || !pacer.slowdown.isSlow()) break;
    await time.sleep(ms);
    exchange = await sendOnce(shared, key, call);
  }
  if (hasTimedOut(exchange)) pacer.slowdown.countUnanswered();
  return exchange;
}

async function sendOnce(shared: SharedClientState, key: TargetKey, call: ClientRequest): Promise<Exchange> {
  const isUnpaced = call.options.unpaced === true || !usesClientKey(call) || isHealth(call);
  const release = isUnpaced ? () => {} : await shared.pacer.acquire(key);
  try {
    const exchange = await openAndRecord(shared, key, call).finished;
    if (!isUnpaced && isConcurrencyRefusal(exchange)) await shared.pacer.awaitSlot(key);
    return exchange;
  } finally {
    release();
  }
}

export function openAndRecord(shared: SharedClientState, key: TargetKey, call: ClientRequest): PendingExchange {
  const pending = shared.transport.open(admit(shared, key, call));
  const finished = finishAndRecord(shared, key, call, pending, "exchange").then(({ exchange }) => exchange);
  return { ...pending, finished };
}

export async function takeSample(shared: SharedClientState, key: TargetKey, call: ClientRequest): Promise<Sample> {
  const pending = shared.transport.openFast(admit(shared, key, call));
  return (await finishAndRecord(shared, key, call, pending, "sample")).sample;
}

/** A quick test for paths that URL parsing leaves unchanged. Nearly all paths match. */
const unchangedPathPattern = /^[\w/?=&-]*$/;

function checkPath({ path }: ClientRequest): void {
  if (unchangedPathPattern.test(path)) return;
  const dropped = path
    .replace(/[?].*/s, "")
    .split("/")
    .find((segment) => !isSegment(segment.replaceAll(/%2e/gi, ".")));
  if (dropped === undefined) return;
  throw new UnsendablePath(`${path} cannot be sent: URLs drop the segment \`${dropped}\``);
}

function bodyToSend({ requestTarget }: SharedClientState, { method, path, options }: ClientRequest): string | null {
  const text = options.text ?? (options.json === undefined ? null : JSON.stringify(options.json));
  return text === null || method !== "POST" ? text : withOwnFields(requestTarget, path, text);
}

function admit(shared: SharedClientState, key: TargetKey, call: ClientRequest): OutgoingRequest {
  const { guard, baseUrl, pacer, outages, outagesBefore, onAdmitted } = shared;
  checkPath(call);
  const { method, path, options } = call;
  const requested = {
    method,
    url: (options.fromOrigin === true ? new URL(baseUrl).origin : baseUrl) + path,
    body: bodyToSend(shared, call),
  };
  if (outages.count() !== outagesBefore) throw new TargetLost();
  const suspicion = outages.suspicion(requested);
  if (suspicion !== null) throw new SkipError(suspicion);
  const executions = guard.admit(call);
  onAdmitted?.(executions);
  return {
    ...requested,
    ...(options.encoding === undefined ? {} : { encoding: options.encoding }),
    key: usesClientKey(call) ? key.name : null,
    headers: headersOf(key, options),
    // Endpoints that run no agent or have timed out get shorter deadlines, unless the whole target is slow.
    deadlines: { ...(pacer.slowdown.isSlow() ? {} : guard.timeouts.deadlinesFor(method, path)), ...options.deadlines },
    ...(options.minHeadMs === undefined ? {} : { minHeadMs: options.minHeadMs }),
    closing: { isLast: isLastEvent, ...guard.timeouts.streamCloseTimeout() },
    ...(options.closeWhen === undefined ? {} : { closeWhen: options.closeWhen }),
  };
}

async function finishAndRecord(
  { time, recorder, pacer, guard, outages, since }: SharedClientState,
  key: TargetKey,
  call: ClientRequest,
  { opened, finished }: Pick<PendingExchange, "opened" | "finished">,
  recorded: "exchange" | "sample",
): Promise<{ exchange: Exchange; sample: Sample }> {
  let headClockMs = time.maxClockOffsetMs();
  void opened.then(() => {
    headClockMs = time.maxClockOffsetMs();
  });
  const examined = await outages.examine(await finished);
  const exchange: Exchange = {
    ...examined,
    ...(since === firstRequirementSet ? {} : { since }),
    ...(call.options.keyState === undefined ? {} : { keyState: call.options.keyState }),
  };
  const sample = sampleOf(exchange, headClockMs, time.maxClockOffsetMs());
  if (recorded === "exchange" || isLostWithTarget(exchange)) recorder.record(exchange, sample);
  else recorder.recordSample(exchange.key, sample);
  if (usesClientKey(call)) pacer.observe(key, sample);
  guard.observe(call, exchange);
  if (recorded === "exchange") pacer.slowdown.observe(exchange);
  return { exchange, sample };
}

function headersOf(key: TargetKey, options: SendOptions): Header[] {
  // An empty key means a target without authentication. Such a target gets no `Authorization` header.
  const given = options.authorization === undefined ? `Bearer ${key.key}` : options.authorization;
  const authorization = key.key === "" ? null : given;
  const hasBody = options.json !== undefined || options.text !== undefined;
  return [
    ...(authorization === null ? [] : [["Authorization", authorization] as const]),
    ["Accept", options.accept ?? "application/json"],
    ...(hasBody ? [["Content-Type", options.contentType ?? "application/json"] as const] : []),
    ...(typeof options.headers === "function" ? options.headers() : (options.headers ?? [])),
  ];
}
