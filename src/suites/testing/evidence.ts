import type { Answered, Body, Ending, Exchange, Header, StreamEvent, Unanswered } from "../../evidence/exchange.ts";
import type { Delivery, DeliveryReply } from "../../evidence/delivery.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";

/** Fields of a test exchange. An omitted field gets a valid default. */
export interface ExchangeOptions {
  readonly id?: string;
  readonly key?: string | null;
  /** Method of the request. Default: `POST`. */
  readonly method?: string;
  /** Path below the base URL. Default: `/agents/echo/invoke`. */
  readonly path?: string;
  readonly requestHeaders?: readonly Header[];
  /** Body of the request, which is written as JSON. */
  readonly sent?: unknown;
  /** Status of the response. Default: 200. */
  readonly status?: number;
  readonly headers?: readonly Header[];
  /** Body of the response, which is written as JSON. */
  readonly json?: unknown;
  /** Raw text of the response's body, used instead of `json`. */
  readonly text?: string;
  readonly events?: readonly StreamEvent[];
  readonly ending?: Ending;
  /** Time of sending. `headMs` and `endMs` default to 10 and 20 ms later. */
  readonly sentMs?: number;
  readonly headMs?: number;
  readonly endMs?: number;
  readonly clockMs?: number;
}

let count = 0;

/** Builds an exchange with a response, for tests of checks. */
export function exchange(made: ExchangeOptions = {}): Exchange {
  const { sentMs = 1000, status = 200, ending = { kind: "complete" }, events = [] } = made;
  const { headMs = sentMs + 10, endMs = Math.max(headMs, sentMs + 20) } = made;
  const contentType = events.length > 0 ? "text/event-stream" : "application/json";
  const answer: Answered = {
    kind: "answered",
    status,
    headers: made.headers ?? [["Content-Type", contentType]],
    headMs,
    endMs,
    body: bodyOf(made.text ?? (made.json === undefined ? null : JSON.stringify(made.json))),
    ending,
    events,
  };
  return { ...requestOf(made), answer };
}

/** Builds an exchange without a response. */
export function unanswered(made: ExchangeOptions = {}, reason: Unanswered["reason"] = "silent"): Exchange {
  const asking = requestOf(made);
  return {
    ...asking,
    answer: { kind: "unanswered", reason, detail: `${reason}, by the test`, endMs: asking.sentMs + 20 },
  };
}

/** Builds an event of a stream. Data that is not a string is written as JSON. */
export const event = (name: string | null, data: unknown, atMs = 1010): StreamEvent => ({
  name,
  data: typeof data === "string" ? data : JSON.stringify(data),
  atMs,
});

/** Builds an exchange whose response is a complete event stream. */
export function streamed(events: readonly StreamEvent[], made: ExchangeOptions = {}): Exchange {
  const text = events.map(({ name, data }) => `${name === null ? "" : `event: ${name}\n`}data: ${data}\n\n`).join("");
  return exchange({
    path: "/agents/echo/stream",
    headers: [["Content-Type", "text/event-stream; charset=utf-8"]],
    text,
    ...made,
    events,
  });
}

function requestOf({
  id,
  key,
  method = "POST",
  path = "/agents/echo/invoke",
  requestHeaders,
  sent,
  ...rest
}: ExchangeOptions) {
  count += 1;
  return {
    id: id ?? `x${count}`,
    key: key === undefined ? "main" : key,
    request: {
      method,
      url: `http://127.0.0.1:9/v1${path}`,
      headers: requestHeaders ?? [["Accept", "application/json"] as const],
      body: bodyOf(sent === undefined ? null : JSON.stringify(sent)),
    },
    sentMs: rest.sentMs ?? 1000,
    clockMs: rest.clockMs ?? 0,
  };
}

const bodyOf = (text: string | null): Body =>
  text === null || text === "" ? { kind: "none" } : { kind: "text", text, bytes: Buffer.byteLength(text) };

/** Fields of a test delivery. An omitted field gets a valid default. */
interface DeliveryOptions {
  readonly hook?: string;
  /** Fields that override those of a valid event. */
  readonly event?: Readonly<Record<string, unknown>>;
  /** Raw text of the body, sent instead of `event`. */
  readonly text?: string;
  readonly headers?: readonly Header[];
  readonly computedSignature?: string | null;
  readonly otherSignatures?: readonly string[];
  readonly reply?: DeliveryReply;
  readonly receivedMs?: number;
  readonly clockMs?: number;
}

let deliveryCount = 0;

/** Builds a delivery of `agent.completed` with reply 200, for tests of checks. */
export function delivery(made: DeliveryOptions = {}): Delivery {
  deliveryCount += 1;
  const { receivedMs = 2000, clockMs = 0, computedSignature = "ab12" } = made;
  const text = made.text ?? JSON.stringify({ ...validEvent(), ...made.event });
  return {
    id: `d${deliveryCount}`,
    hook: made.hook ?? "webhook-wildcard",
    attempt: 1,
    request: {
      method: "POST",
      url: "/hook",
      headers: made.headers ?? [["x-service-signature", computedSignature ?? ""]],
      body: { kind: "text", text, bytes: Buffer.byteLength(text) },
    },
    peer: "127.0.0.1",
    receivedMs,
    clockMs,
    clockAtMostMs: clockMs,
    computedSignature,
    ...(made.otherSignatures && { otherSignatures: made.otherSignatures }),
    reply: made.reply ?? { kind: "answered", status: 200, endMs: receivedMs + 1 },
  };
}

const validEvent = (): Readonly<Record<string, unknown>> => ({
  id: "evt-1",
  type: "agent.completed",
  created: "2026-03-04T05:06:07Z",
  agent_id: "echo",
  data: { request_id: "r1", input: {}, result: {}, execution_time: 0.5, tokens_used: 3 },
});

let sampleCount = 0;

/** Builds a sample: by default an admitted invoke of half a millisecond, sent a millisecond after the previous one. */
export function sample(made: Partial<Sample> = {}): Sample {
  sampleCount += 1;
  const { sentMs = sampleCount, sentClockMs = 0 } = made;
  return {
    id: `s${sampleCount}`,
    kind: "invoke",
    sentMs,
    headMs: sentMs + 0.5,
    endMs: sentMs + 0.5,
    sentClockMs,
    headClockMs: sentClockMs,
    endClockMs: sentClockMs,
    status: 200,
    ...noRateLimitInfo,
    ...made,
  };
}

// Events of streams, for tests of the checks.

export const start = event("start", { message: "Go." });
export const chunk = (content: string, index?: number, atMs?: number) =>
  event("chunk", { content, ...(index === undefined ? {} : { index }) }, atMs);
export const done = event("done", { message: "Done.", usage: { total_tokens: 3 }, execution_time: 0.01 });
export const failure = (fields: object = {}) => event("error", { error: "Broken.", code: "STREAM_ERROR", ...fields });

export const whole = [start, chunk("one "), chunk("two"), done];
/** Returns a stream as the evidence of a probe that measured its time. */
export const timedEvidence = (given: Exchange, clockAtEventsMs: readonly number[] = [], clockAfterMs = 0) => ({
  exchange: given,
  clockAtEventsMs,
  clockAfterMs,
  promised: true,
});
/** Returns streams as the evidence of the checks of every stream. */
export const evidenceOfStreams = (streams: readonly Exchange[], failing: readonly string[] = []) => ({
  plain: timedEvidence(streams[0] ?? unanswered()),
  all: { streams, failing },
});
/** Returns the evidence of a run whose only stream has these events. */
export const evidenceOfEvents = (...events: readonly StreamEvent[]) => evidenceOfStreams([streamed(events)]);
/** Returns a stream whose connection breaks after these events. */
export const brokenStream = (...events: readonly StreamEvent[]) =>
  streamed(events, { ending: { kind: "broken", detail: "reset" } });
export const indexed = (...indexes: readonly number[]) =>
  streamed([start, ...indexes.map((index) => chunk("x", index)), done]);
