import type { Answered, Body, Ending, Exchange, Header, StreamEvent, Unanswered } from "../../evidence/exchange.ts";

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
