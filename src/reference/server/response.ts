import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { HealthStatus } from "../../spec/events.ts";
import type { Behaviour } from "../behaviour/behaviour.ts";
import type { Header, HeadInput } from "../behaviour/transport.ts";
import type { ApiError } from "../api-error.ts";
import type { Endpoint } from "../endpoint.ts";
import type { RequestContext } from "./admission.ts";
import { sleep, eventLoopTurns } from "./wait.ts";

export type RouteResult =
  | { readonly kind: "json"; readonly value: unknown; readonly health: HealthStatus | null }
  | { readonly kind: "error"; readonly error: ApiError };

export const ok = (value: unknown, health: HealthStatus | null = null): RouteResult => ({
  kind: "json",
  value,
  health,
});
export const failed = (error: ApiError): RouteResult => ({ kind: "error", error });

export interface HttpResponse {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly bytes: string | Uint8Array;
}

export function renderResponse(context: RequestContext, result: RouteResult, acceptEncoding: string): HttpResponse {
  const { endpoint, state } = context;
  const { behaviour } = state;
  const status =
    result.kind === "json"
      ? behaviour.successStatus(endpoint, result.health)
      : behaviour.errorStatus(result.error.cause, endpoint);
  const head: HeadInput = { endpoint, status };
  const { contentType, text } = bodyOf(behaviour, result, head);
  const { bytes, headers } = behaviour.encodeBody(text, acceptEncoding);
  const length: readonly Header[] =
    behaviour.bodyFraming() === "length" ? [["Content-Length", String(Buffer.byteLength(bytes))]] : [];
  const own: readonly Header[] = [
    ["Content-Type", contentType],
    ...retryAfter(behaviour, result),
    ...headers,
    ...length,
  ];
  return { status, headers: responseHeaders(context, head, own), bytes };
}

function retryAfter(behaviour: Behaviour, result: RouteResult): readonly Header[] {
  if (result.kind === "json" || result.error.detail.kind !== "limit") return [];
  const value = behaviour.retryAfterHeader(result.error.detail.retryAfterSeconds);
  return value === null ? [] : [["Retry-After", value]];
}

export function responseHeaders(context: RequestContext, head: HeadInput, own: readonly Header[]): readonly Header[] {
  const { clock, behaviour } = context.state;
  const date: Header = ["Date", dateText(clock.now())];
  return behaviour.finalHeaders([date, ...context.rateHeaders(head), ...own], head);
}

let lastDate = { second: Number.NaN, text: "" };

function dateText(nowMs: number): string {
  const second = Math.floor(nowMs / 1000);
  if (second !== lastDate.second) lastDate = { second, text: new Date(nowMs).toUTCString() };
  return lastDate.text;
}

export function rawHeaders(headers: readonly Header[]): string[] {
  const raw: string[] = [];
  for (const [name, value] of headers) raw.push(name, value);
  return raw;
}

function bodyOf(
  behaviour: Behaviour,
  result: RouteResult,
  head: HeadInput,
): { readonly contentType: string; readonly text: string } {
  const page = result.kind === "error" && result.error.cause === "unknown-path" ? behaviour.unknownPathPage() : null;
  if (page !== null) return page;
  const value =
    result.kind === "json"
      ? result.value
      : behaviour.errorBody({
          ...result.error,
          ...head,
          code: behaviour.errorCode(result.error.cause, head.endpoint),
        });
  return { contentType: behaviour.contentType("json", head), text: behaviour.jsonText(value, head) };
}

/** Frees the concurrency slot of the request, and then sends the whole response. */
function sendResponse(socket: ServerResponse, context: RequestContext, { status, headers, bytes }: HttpResponse): void {
  const head: HeadInput = { endpoint: context.endpoint, status };
  context.onResponseEvent("head", head);
  context.onResponseEvent("end", head);
  if (socket.destroyed) return;
  socket.writeHead(status, rawHeaders(headers));
  socket.end(bytes);
}

declare module "fastify" {
  interface FastifyRequest {
    requestContext: RequestContext | null;
    rawBody: Buffer | null;
  }
  interface FastifyContextConfig {
    endpoint?: Endpoint;
  }
}

/** Sends a result without Fastify, so that faults and variants can change every byte. */
export function sendResult(request: FastifyRequest, reply: FastifyReply, result: RouteResult): void {
  const { requestContext: context } = request;
  reply.hijack();
  if (context === null) return void reply.raw.destroy();
  const { endpoint, state } = context;
  const acceptEncoding = request.headers["accept-encoding"] ?? "";
  const finish = () => sendResponse(reply.raw, context, renderResponse(context, result, acceptEncoding));
  const isLimited = result.kind === "error" && result.error.detail.kind === "limit";
  const turns = state.behaviour.turnsBeforeResponse({ endpoint });
  const delayMs = state.behaviour.responseDelayMs({ endpoint, isLimited });
  if (turns === 0 && delayMs === 0) finish();
  else void Promise.all([eventLoopTurns(turns), sleep(state.clock, delayMs, null)]).then(finish);
}
