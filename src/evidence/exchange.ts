/** A header as it stood on the wire: its name in the sender's spelling, and its value. */
export type Header = readonly [name: string, value: string];

/** A body as kept: whole up to 256 KiB, beyond that its head, tail, length and hash. `bytes` counts decoded bytes. */
export type Body =
  | { readonly kind: "none" }
  | { readonly kind: "text"; readonly text: string; readonly bytes: number }
  | { readonly kind: "base64"; readonly base64: string; readonly bytes: number }
  | {
      readonly kind: "cut";
      readonly head: string;
      readonly tail: string;
      readonly bytes: number;
      readonly sha256: string;
    };

export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: Body;
}

/** One event of a stream as it arrived; `atMs` counts from the start of the run. */
export interface StreamEvent {
  /** The `event:` name, or `null` where the event had none. */
  readonly name: string | null;
  readonly data: string;
  readonly atMs: number;
}

/** How the reading of a response ended. */
export type Ending =
  | { readonly kind: "complete" }
  /** The harness closed it on purpose, because it had seen what it came for. */
  | { readonly kind: "closed by us" }
  | { readonly kind: "broken"; readonly detail: string }
  | { readonly kind: "deadline"; readonly detail: string };

export interface Answered {
  readonly kind: "answered";
  readonly status: number;
  readonly headers: readonly Header[];
  readonly headMs: number;
  readonly endMs: number;
  readonly body: Body;
  readonly ending: Ending;
  /** Events of an event stream, in order; empty for any other body. */
  readonly events: readonly StreamEvent[];
}

export interface Unanswered {
  readonly kind: "unanswered";
  /** `unreachable`: no connection; `broken`: the connection ended before a response; `silent`: a deadline passed. */
  readonly reason: "unreachable" | "broken" | "silent";
  readonly detail: string;
  readonly endMs: number;
}

/**
 * One request and what came of it. Times are milliseconds since the start of the run on the harness's clock;
 * `clockMs` tells how far the run had moved the target's own clock when the request was sent (0 without a clock control).
 */
export interface Exchange {
  readonly id: string;
  /** Name of the target's key that was used; `null` where no key of the target was. */
  readonly key: string | null;
  readonly request: SentRequest;
  readonly sentMs: number;
  readonly clockMs: number;
  readonly answer: Answered | Unanswered;
}

export const statusOf = (exchange: Exchange): number | null =>
  exchange.answer.kind === "answered" ? exchange.answer.status : null;

/** Values of every header of that name, in order, whatever its letter case. */
export function headerValues(exchange: Exchange, name: string): string[] {
  if (exchange.answer.kind !== "answered") return [];
  const wanted = name.toLowerCase();
  return exchange.answer.headers.filter(([each]) => each.toLowerCase() === wanted).map(([, value]) => value);
}

/** The body's text; `null` where there is none, it is not UTF-8, or it was too long to keep. */
export function bodyText(exchange: Exchange): string | null {
  const { answer } = exchange;
  return answer.kind === "answered" && answer.body.kind === "text" ? answer.body.text : null;
}

/** The body as JSON; `undefined` where it is not JSON. */
export function bodyJson(exchange: Exchange): unknown {
  const text = bodyText(exchange);
  if (text === null) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
