import { setTimeout as sleep } from "node:timers/promises";

import type { HarnessLimitError } from "../../../base/harness-limit.ts";
import type { Network } from "../../../base/network/network.ts";
import { bodyText, type Exchange, type StreamEvent } from "../../../evidence/exchange.ts";
import { streamShapeOf, tokensOfDone } from "../../../rules/streams/streams.ts";
import { openTransport, type Transport } from "../../../wire/transport.ts";
import type { LoadSample, StreamSummary } from "../../../evidence/load-evidence.ts";
import { epochMs, sampleOfResponse, unansweredSample } from "../../load-sample.ts";
import type { SampleCollector } from "../../second-counts.ts";
import { earlyRetrySeconds, type Flow, lateRetrySeconds, type TrafficShape } from "../../scenarios.ts";
import type { PreparedRequest } from "./request.ts";

export const openLoadTransport = (network: Network, onHarnessLimit: (limit: HarnessLimitError) => void): Transport =>
  openTransport({ now: epochMs, clockOffsetMs: () => 0, network, onHarnessLimit });

/** Milliseconds to wait for pending responses after a stop. */
const graceMs = 2000;

interface UndiciOptions {
  readonly wire: Transport;
  readonly signal: AbortSignal;
  /** Speed of the target's clock, as a multiple of the speed of this machine's clock. */
  readonly speed: number;
  readonly collector: Pick<SampleCollector, "sample" | "stream">;
}

export async function sendWithUndici(
  flow: Flow,
  request: PreparedRequest,
  { wire, signal, speed, collector }: UndiciOptions,
): Promise<void> {
  const send = async (): Promise<LoadSample> => {
    const { exchange, hasLeft } = await exchangeOf(flow, request, wire, signal);
    const stream = flow.operation.kind === "stream" ? summarizeStream(flow, exchange, hasLeft) : null;
    const sample = sampleOf(flow, exchange, hasLeft, stream);
    collector.sample(sample);
    if (stream !== null && sample.status !== null && sample.status < 300) collector.stream(stream);
    return sample;
  };
  await sendInShape(flow.shape, { send, signal, speed });
}

async function exchangeOf(
  { leaveAfterMs }: Flow,
  request: PreparedRequest,
  wire: Transport,
  signal: AbortSignal,
): Promise<{ readonly exchange: Exchange; readonly hasLeft: boolean }> {
  const underway = wire.open({ ...request, headers: Object.entries(request.headers), key: null });
  let hasLeft = false;
  const disconnect = (): void => {
    hasLeft = true;
    underway.close();
  };
  const leaving = leaveAfterMs === null ? undefined : setTimeout(disconnect, leaveAfterMs);
  let grace: NodeJS.Timeout | undefined;
  const stop = (): void => void (grace = setTimeout(disconnect, graceMs));
  signal.addEventListener("abort", stop, { once: true });
  const exchange = await underway.finished;
  signal.removeEventListener("abort", stop);
  clearTimeout(leaving);
  clearTimeout(grace);
  return { exchange, hasLeft };
}

function sampleOf(flow: Flow, exchange: Exchange, hasLeft: boolean, stream: StreamSummary | null): LoadSample {
  const { answer, sentMs } = exchange;
  const base = { flow: flow.name, key: flow.key, sentMs, endMs: answer.endMs, left: hasLeft };
  if (answer.kind === "unanswered") return unansweredSample(base);
  const { status, headers, headMs, ending } = answer;
  // A successful stream consists of events, which `summarizeStream` reads. The sample then needs no body text.
  const isEvents = stream !== null && status < 300;
  const body = isEvents || ending.kind !== "complete" ? null : bodyText(exchange);
  const sample = sampleOfResponse({ ...base, endpoint: flow.operation.kind, status, headers, headMs, body });
  return isEvents ? { ...sample, tokens: stream.totalTokens } : sample;
}

export function summarizeStream(flow: Flow, { answer, sentMs }: Exchange, hasLeft: boolean): StreamSummary {
  const events = answer.kind === "answered" ? answer.events : [];
  return {
    flow: flow.name,
    sentMs,
    status: answer.kind === "answered" ? answer.status : null,
    firstEventMs: events[0]?.atMs ?? null,
    endMs: answer.endMs,
    longestGapMs: longestGapOf(events),
    ...streamShapeOf(events),
    ending: hasLeft ? "left" : answer.kind === "answered" && answer.ending.kind === "complete" ? "whole" : "cut",
    totalTokens: tokensOfDone(events),
  };
}

function longestGapOf(events: readonly StreamEvent[]): number | null {
  if (events.length < 2) return null;
  return Math.max(...events.slice(1).map(({ atMs }, before) => atMs - (events[before]?.atMs ?? atMs)));
}

type Send = () => Promise<LoadSample>;

interface ShapeOptions extends Pick<UndiciOptions, "signal" | "speed"> {
  readonly send: Send;
}

export async function sendInShape(shape: TrafficShape, { send, signal, speed }: ShapeOptions): Promise<void> {
  switch (shape.kind) {
    case "at once":
      await Promise.all(Array.from({ length: shape.requests }, send));
      return;
    case "in turn":
      return sendShared(shape.requests, 1, send, signal);
    case "shared":
      return sendShared(shape.requests, shape.atOnce, send, signal);
    case "closed":
      return sendClosed(shape.seconds * 1000, shape.atOnce, send, signal);
    case "after refusal":
      for (let round = 0; round < shape.rounds && !signal.aborted; round += 1)
        await retryAfterRefusal(round, { send, signal, speed });
      return;
    case "paced":
      throw new Error("only k6 can keep a constant rate");
  }
}

async function sendShared(requests: number, connections: number, send: Send, signal: AbortSignal): Promise<void> {
  let remaining = requests;
  const worker = async (): Promise<void> => {
    while (remaining > 0 && !signal.aborted) {
      remaining -= 1;
      await send();
    }
  };
  await Promise.all(Array.from({ length: Math.min(connections, requests) }, worker));
}

async function sendClosed(ms: number, connections: number, send: Send, signal: AbortSignal): Promise<void> {
  const endsMs = performance.now() + ms;
  const worker = async (): Promise<void> => {
    while (performance.now() < endsMs && !signal.aborted) await send();
  };
  await Promise.all(Array.from({ length: connections }, worker));
}

/** Maximum number of requests to send until one is refused. A server without limits would never refuse one. */
const maxUntilRefused = 20_000;
/** Real ms to add to the wait of `lateRetrySeconds`, whose extra second lasts only 40 ms at speed 25. */
const lateMarginMs = 100;

/** Sends requests until a 429, and retries after `retry_after`. Odd rounds first retry early, e.g. at 70 % of it. */
async function retryAfterRefusal(round: number, { send, signal, speed }: ShapeOptions): Promise<void> {
  const refusal = await sendUntilRefused(send, signal);
  const retryAfterSeconds = refusal?.retryAfterSeconds ?? null;
  if (retryAfterSeconds === null) return;
  const refusedMs = performance.now();
  const retryAt = async (seconds: number, extraMs: number): Promise<void> => {
    await pause(refusedMs + (seconds * 1000) / speed + extraMs - performance.now(), signal);
    if (!signal.aborted) await send();
  };
  for (const seconds of earlyRetrySeconds(retryAfterSeconds, round)) await retryAt(seconds, 0);
  await retryAt(lateRetrySeconds(retryAfterSeconds), lateMarginMs);
}

async function sendUntilRefused(send: Send, signal: AbortSignal): Promise<LoadSample | null> {
  for (let sent = 0; sent < maxUntilRefused && !signal.aborted; sent += 1) {
    const sample = await send();
    if (sample.status === 429) return sample;
    // Stops at an error other than 429: a server that is down or broken would never refuse a request by 429.
    if (sample.status === null || sample.status >= 400) return null;
  }
  return null;
}

export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(Math.max(0, ms), undefined, { signal }).catch(() => {});
