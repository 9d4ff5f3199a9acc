import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HealthStatus } from "../../spec/events.ts";
import type { Behaviour } from "../behaviour/behaviour.ts";
import type { Header, HeadInput } from "../behaviour/transport.ts";
import type { ErrorBodyInput, ApiError, Operation } from "../api-error.ts";
import type { RequestContext } from "./admission.ts";
import { sleep, eventLoopTurns, type DisconnectSignal } from "./wait.ts";
import type { ServerState } from "./state.ts";

/** What a route answers with. */
export type RouteResult =
  | { readonly kind: "json"; readonly value: unknown; readonly health: HealthStatus | null }
  | { readonly kind: "trouble"; readonly trouble: ApiError };

export const ok = (value: unknown, health: HealthStatus | null = null): RouteResult => ({
  kind: "json",
  value,
  health,
});
export const failed = (trouble: ApiError): RouteResult => ({ kind: "trouble", trouble });

/** A whole answer, ready for a socket. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly bytes: string | Uint8Array;
}

/** Turns an answer into its message: body, encoding, and the head of every answer. */
export function renderResponse(
  state: ServerState,
  context: RequestContext,
  given: RouteResult,
  acceptEncoding: string,
): HttpResponse {
  const { behaviour } = state;
  const { operation } = context;
  const status =
    given.kind === "json"
      ? behaviour.successStatus(operation, given.health)
      : behaviour.errorStatus(given.trouble.cause, operation);
  const facts: HeadInput = { operation, status };
  const { contentType, text } = bodyOf(state, given, facts);
  const { bytes, headers } = behaviour.encode(text, acceptEncoding);
  const length: readonly Header[] =
    behaviour.framing() === "length" ? [["Content-Length", String(Buffer.byteLength(bytes))]] : [];
  const head = responseHeaders(state, context, facts, [
    ["Content-Type", contentType],
    ...retryAfter(behaviour, given),
    ...headers,
    ...length,
  ]);
  return { status, headers: head, bytes };
}

function retryAfter(behaviour: Behaviour, given: RouteResult): readonly Header[] {
  if (given.kind === "json" || given.trouble.detail.kind !== "limit") return [];
  const value = behaviour.retryAfterHeader(given.trouble.detail.retryAfterSeconds);
  return value === null ? [] : [["Retry-After", value]];
}

/** The headers that every answer has, with those given. */
export function responseHeaders(
  state: ServerState,
  context: RequestContext,
  facts: HeadInput,
  own: readonly Header[],
): readonly Header[] {
  const date: Header = ["Date", dateText(state.clock.now())];
  return state.behaviour.headers([date, ...context.rateHeaders(facts), ...own], facts);
}

let lastDate = { second: Number.NaN, text: "" };

/** An instant as a header has it; thousands of answers fall into one second. */
function dateText(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== lastDate.second) lastDate = { second, text: new Date(nowMs).toUTCString() };
  return lastDate.text;
}

/** As Node takes a head: names and values in turn. */
export function rawHeaders(headers: readonly Header[]): string[] {
  const raw: string[] = [];
  for (const [name, value] of headers) raw.push(name, value);
  return raw;
}

interface BodyText {
  readonly contentType: string;
  readonly text: string;
}

function bodyOf(state: ServerState, given: RouteResult, facts: HeadInput): BodyText {
  const { behaviour } = state;
  const page = given.kind === "trouble" && given.trouble.cause === "unknown-path" ? behaviour.unknownPathPage() : null;
  if (page !== null) return page;
  const value = given.kind === "json" ? given.value : behaviour.errorBody(errorFacts(state, given.trouble, facts));
  return { contentType: behaviour.contentType("json", facts), text: behaviour.jsonText(value, facts) };
}

function errorFacts({ behaviour }: ServerState, trouble: ApiError, { operation, status }: HeadInput): ErrorBodyInput {
  return { ...trouble, operation, status, code: behaviour.errorCode(trouble.cause, operation) };
}

/** Sends a whole answer and gives the slot of its request back. */
function send(response: ServerResponse, context: RequestContext, message: HttpResponse): void {
  const facts: HeadInput = { operation: context.operation, status: message.status };
  context.onResponseEvent("head", facts);
  context.onResponseEvent("end", facts);
  if (response.destroyed) return;
  response.writeHead(message.status, rawHeaders(message.headers));
  response.end(message.bytes);
}

/** What a request carries through the server. */
export interface OpenRequest {
  readonly context: RequestContext;
  readonly client: DisconnectSignal;
}

declare module "fastify" {
  interface FastifyRequest {
    openRequest: OpenRequest | null;
    /** The body as received; `null` where there is none. */
    rawBody: Buffer | null;
  }
  interface FastifyContextConfig {
    operation?: Operation;
  }
}

/** Sends an answer past the framework, so that every byte of it is the behaviour's. */
export function sendResult(state: ServerState, request: FastifyRequest, reply: FastifyReply, given: RouteResult): void {
  const { openRequest } = request;
  reply.hijack();
  if (openRequest === null) return void reply.raw.destroy();
  const { context } = openRequest;
  const acceptEncoding = request.headers["accept-encoding"] ?? "";
  const finish = () => send(reply.raw, context, renderResponse(state, context, given, acceptEncoding));
  const { operation } = context;
  const isLimited = given.kind === "trouble" && given.trouble.detail.kind === "limit";
  const waits = state.behaviour.turnsBeforeResponse({ operation });
  const waitsMs = state.behaviour.responseDelayMs({ operation, isLimited });
  if (waits === 0 && waitsMs === 0) finish();
  else void Promise.all([eventLoopTurns(waits), sleep(state.clock, waitsMs, null)]).then(finish);
}
