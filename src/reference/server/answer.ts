import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HealthStatus } from "../../interface/events.ts";
import type { Behaviour } from "../behaviour/behaviour.ts";
import type { Header, HeadFacts } from "../behaviour/transport.ts";
import type { ErrorFacts, Trouble, Operation } from "../trouble.ts";
import type { Exchange } from "./exchange.ts";
import { pause, turns, type Departure } from "./pause.ts";
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
export function messageOf(state: ServerState, exchange: Exchange, given: Answer, acceptEncoding: string): Message {
  const { behaviour } = state;
  const { operation } = exchange;
  const status =
    given.kind === "json"
      ? behaviour.successStatus(operation, given.health)
      : behaviour.errorStatus(given.trouble.cause, operation);
  const facts: HeadFacts = { operation, status };
  const { contentType, text } = bodyOf(state, given, facts);
  const { bytes, headers } = behaviour.encode(text, acceptEncoding);
  const length: readonly Header[] =
    behaviour.framing() === "length" ? [["Content-Length", String(Buffer.byteLength(bytes))]] : [];
  const head = headOf(state, exchange, facts, [
    ["Content-Type", contentType],
    ...retryAfter(behaviour, given),
    ...headers,
    ...length,
  ]);
  return { status, headers: head, bytes };
}

function retryAfter(behaviour: Behaviour, given: Answer): readonly Header[] {
  if (given.kind === "json" || given.trouble.detail.kind !== "limit") return [];
  const value = behaviour.retryAfterHeader(given.trouble.detail.retryAfterSeconds);
  return value === null ? [] : [["Retry-After", value]];
}

/** The headers that every answer has, with those given. */
export function headOf(
  state: ServerState,
  exchange: Exchange,
  facts: HeadFacts,
  own: readonly Header[],
): readonly Header[] {
  const date: Header = ["Date", dateText(state.clock.now())];
  return state.behaviour.headers([date, ...exchange.rateHeaders(facts), ...own], facts);
}

let lastDate = { second: Number.NaN, text: "" };

/** An instant as a header has it; thousands of answers fall into one second. */
function dateText(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== lastDate.second) lastDate = { second, text: new Date(nowMs).toUTCString() };
  return lastDate.text;
}

/** As Node takes a head: names and values in turn. */
export function rawHead(headers: readonly Header[]): string[] {
  const raw: string[] = [];
  for (const [name, value] of headers) raw.push(name, value);
  return raw;
}

interface BodyText {
  readonly contentType: string;
  readonly text: string;
}

function bodyOf(state: ServerState, given: Answer, facts: HeadFacts): BodyText {
  const { behaviour } = state;
  const page = given.kind === "trouble" && given.trouble.cause === "unknown-path" ? behaviour.unknownPathPage() : null;
  if (page !== null) return page;
  const value = given.kind === "json" ? given.value : behaviour.errorBody(errorFacts(state, given.trouble, facts));
  return { contentType: behaviour.contentType("json", facts), text: behaviour.jsonText(value, facts) };
}

function errorFacts({ behaviour }: ServerState, trouble: Trouble, { operation, status }: HeadFacts): ErrorFacts {
  return { ...trouble, operation, status, code: behaviour.errorCode(trouble.cause, operation) };
}

/** Sends a whole answer and gives the slot of its request back. */
function send(response: ServerResponse, exchange: Exchange, message: Message): void {
  const facts: HeadFacts = { operation: exchange.operation, status: message.status };
  exchange.slotMoment("head", facts);
  exchange.slotMoment("end", facts);
  if (response.destroyed) return;
  response.writeHead(message.status, rawHead(message.headers));
  response.end(message.bytes);
}

/** What a request carries through the server. */
export interface InHand {
  readonly exchange: Exchange;
  readonly client: Departure;
}

declare module "fastify" {
  interface FastifyRequest {
    inHand: InHand | null;
    /** The body as received; `null` where there is none. */
    rawBody: Buffer | null;
  }
  interface FastifyContextConfig {
    operation?: Operation;
  }
}

/** Sends an answer past the framework, so that every byte of it is the behaviour's. */
export function answer(state: ServerState, request: FastifyRequest, reply: FastifyReply, given: Answer): void {
  const { inHand } = request;
  reply.hijack();
  if (inHand === null) return void reply.raw.destroy();
  const { exchange } = inHand;
  const acceptEncoding = request.headers["accept-encoding"] ?? "";
  const finish = () => send(reply.raw, exchange, messageOf(state, exchange, given, acceptEncoding));
  const { operation } = exchange;
  const isLimited = given.kind === "trouble" && given.trouble.detail.kind === "limit";
  const waits = state.behaviour.turnsBeforeAnswer({ operation });
  const waitsMs = state.behaviour.beforeAnswerMs({ operation, isLimited });
  if (waits === 0 && waitsMs === 0) finish();
  else void Promise.all([turns(waits), pause(state.clock, waitsMs, null)]).then(finish);
}
