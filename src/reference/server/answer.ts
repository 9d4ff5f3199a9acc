import type { ServerResponse } from "node:http";
import type { HealthStatus } from "../../interface/events.ts";
import type { Behaviour } from "../behaviour/behaviour.ts";
import type { Header, HeadFacts } from "../behaviour/transport.ts";
import type { ErrorFacts, Trouble } from "../trouble.ts";
import type { Exchange } from "./exchange.ts";
import type { ServerState } from "./state.ts";

/** What a route answers with. */
export type Answer =
  | { readonly kind: "json"; readonly value: unknown; readonly health: HealthStatus | null }
  | { readonly kind: "trouble"; readonly trouble: Trouble };

export const ok = (value: unknown, health: HealthStatus | null = null): Answer => ({ kind: "json", value, health });
export const failed = (trouble: Trouble): Answer => ({ kind: "trouble", trouble });

/** A whole answer, ready for a socket. */
export interface Message {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly bytes: string | Uint8Array;
}

/** Turns an answer into its message: body, encoding, and the head of every answer. */
export function messageOf(state: ServerState, exchange: Exchange, answer: Answer, acceptEncoding: string): Message {
  const { behaviour } = state;
  const { operation } = exchange;
  const status =
    answer.kind === "json"
      ? behaviour.successStatus(operation, answer.health)
      : behaviour.errorStatus(answer.trouble.cause, operation);
  const facts: HeadFacts = { operation, status };
  const { contentType, text } = bodyOf(state, answer, facts);
  const { bytes, headers } = behaviour.encode(text, acceptEncoding);
  const length: readonly Header[] =
    behaviour.framing() === "length" ? [["Content-Length", String(Buffer.byteLength(bytes))]] : [];
  const head = headOf(state, exchange, facts, [
    ["Content-Type", contentType],
    ...retryAfter(behaviour, answer),
    ...headers,
    ...length,
  ]);
  return { status, headers: head, bytes };
}

function retryAfter(behaviour: Behaviour, answer: Answer): readonly Header[] {
  if (answer.kind === "json" || answer.trouble.detail.kind !== "limit") return [];
  const value = behaviour.retryAfterHeader(answer.trouble.detail.retryAfterSeconds);
  return value === null ? [] : [["Retry-After", value]];
}

/** The headers that every answer has, with those given. */
export function headOf(
  state: ServerState,
  exchange: Exchange,
  facts: HeadFacts,
  own: readonly Header[],
): readonly Header[] {
  const date: Header = ["Date", new Date(state.clock.now()).toUTCString()];
  return state.behaviour.headers([date, ...exchange.rateHeaders(facts), ...own], facts);
}

interface BodyText {
  readonly contentType: string;
  readonly text: string;
}

function bodyOf(state: ServerState, answer: Answer, facts: HeadFacts): BodyText {
  const { behaviour } = state;
  const page =
    answer.kind === "trouble" && answer.trouble.cause === "unknown-path" ? behaviour.unknownPathPage() : null;
  if (page !== null) return page;
  const value = answer.kind === "json" ? answer.value : behaviour.errorBody(errorFacts(state, answer.trouble, facts));
  return { contentType: behaviour.contentType("json", facts), text: behaviour.jsonText(value, facts) };
}

function errorFacts({ behaviour }: ServerState, trouble: Trouble, { operation, status }: HeadFacts): ErrorFacts {
  return { ...trouble, operation, status, code: behaviour.errorCode(trouble.cause, operation) };
}

/** Sends a whole answer and gives the slot of its request back. */
export function send(response: ServerResponse, exchange: Exchange, message: Message): void {
  const facts: HeadFacts = { operation: exchange.operation, status: message.status };
  exchange.slotMoment("head", facts);
  exchange.slotMoment("end", facts);
  if (response.destroyed) return;
  response.writeHead(message.status, flat(message.headers));
  response.end(message.bytes);
}

/** Node's own form of a list of headers; it keeps the case of the names. */
export function flat(headers: readonly Header[]): string[] {
  const list: string[] = [];
  for (const [name, value] of headers) list.push(name, value);
  return list;
}
