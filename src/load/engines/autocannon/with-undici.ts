import type { Flow } from "../../scenarios.ts";
import type { Network } from "../../../base/network/network.ts";
import { bodyText, type Exchange, type StreamEvent } from "../../../evidence/exchange.ts";
import { openTransport, type Transport } from "../../../wire/transport.ts";
import type { LoadSample, StreamSummary } from "../../load-evidence.ts";
import { sampleOfResponse, unansweredSample } from "../../load-sample.ts";
import { epochMs } from "../../wall-clock.ts";
import type { PreparedRequest } from "./request.ts";
import { sendInShape } from "./traffic-shapes.ts";
import { shapeOf, tokensOfDone } from "../../../rules/streams/sequence.ts";

export const openWire = (network: Network): Transport =>
  openTransport({ now: epochMs, clockOffsetMs: () => 0, network });

/** Who hears of what came. */
export interface Records {
  readonly sample: (sample: LoadSample) => void;
  readonly stream: (stream: StreamSummary) => void;
}

/** After a stop, answers that are on the way have so long to come. */
const graceMs = 2000;

/** Sends what autocannon cannot: streams, clients that leave, and traffic that depends on answers. */
export async function sendWithUndici(
  flow: Flow,
  call: PreparedRequest,
  { wire, signal, speed, records }: { wire: Transport; signal: AbortSignal; speed: number; records: Records },
): Promise<void> {
  const send = async (): Promise<LoadSample> => {
    const { exchange, left } = await exchangeOf(flow, call, wire, signal);
    const stream = flow.operation.kind === "stream" ? describeStream(flow, exchange, left) : null;
    const sample = sampleOf(flow, exchange, left, stream);
    records.sample(sample);
    if (stream !== null && sample.status !== null && sample.status < 300) records.stream(stream);
    return sample;
  };
  await sendInShape(flow.shape, { send, signal, speed });
}

interface Seen {
  readonly exchange: Exchange;
  /** The client closed the connection before the end, on purpose. */
  readonly left: boolean;
}

async function exchangeOf(
  { leaveAfterMs }: Flow,
  call: PreparedRequest,
  wire: Transport,
  signal: AbortSignal,
): Promise<Seen> {
  const underway = wire.open({ ...call, headers: Object.entries(call.headers), key: null });
  let left = false;
  const leave = (): void => {
    left = true;
    underway.close();
  };
  const leaving = leaveAfterMs === null ? undefined : setTimeout(leave, leaveAfterMs);
  let grace: NodeJS.Timeout | undefined;
  const stop = (): void => void (grace = setTimeout(leave, graceMs));
  signal.addEventListener("abort", stop, { once: true });
  const exchange = await underway.finished;
  signal.removeEventListener("abort", stop);
  clearTimeout(leaving);
  clearTimeout(grace);
  return { exchange, left };
}

function sampleOf(flow: Flow, exchange: Exchange, left: boolean, stream: StreamSummary | null): LoadSample {
  const { answer, sentMs } = exchange;
  const base = { flow: flow.name, key: flow.key, sentMs, endMs: answer.endMs, left };
  if (answer.kind === "unanswered") return unansweredSample(base);
  const { status, headers, headMs, ending } = answer;
  // The body of a stream that was admitted is its events, which are looked at on their own.
  const isEvents = stream !== null && status < 300;
  const body = isEvents || ending.kind !== "complete" ? null : bodyText(exchange);
  const sample = sampleOfResponse({ ...base, endpoint: flow.operation.kind, status, headers, headMs, body });
  return stream === null || status >= 300 ? sample : { ...sample, tokens: stream.totalTokens };
}

/** The order, the end and the pauses of one stream. */
export function describeStream(flow: Flow, { answer, sentMs }: Exchange, left: boolean): StreamSummary {
  const events = answer.kind === "answered" ? answer.events : [];
  return {
    flow: flow.name,
    sentMs,
    status: answer.kind === "answered" ? answer.status : null,
    firstEventMs: events[0]?.atMs ?? null,
    endMs: answer.endMs,
    longestGapMs: longestGapOf(events),
    ...shapeOf(events),
    ending: left ? "left" : answer.kind === "answered" && answer.ending.kind === "complete" ? "whole" : "cut",
    totalTokens: tokensOfDone(events),
  };
}

function longestGapOf(events: readonly StreamEvent[]): number | null {
  if (events.length < 2) return null;
  return Math.max(...events.slice(1).map(({ atMs }, before) => atMs - (events[before]?.atMs ?? atMs)));
}
