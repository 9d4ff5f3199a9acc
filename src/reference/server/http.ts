import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { apiError, type ApiError, fieldError } from "../behaviour/errors.ts";
import type { Behaviour } from "../patch.ts";
import type { EncodedBody, Header, ResponseHead } from "../behaviour/transport.ts";
import type { Endpoint } from "../endpoint.ts";
import { admitRequest, type RequestContext } from "./admission.ts";
import type { ServerState } from "./state.ts";
import type { HealthStatus } from "../../spec/events-and-errors.ts";
import { waitEventLoopTurns, sleep } from "./wait.ts";

export type RouteResult =
  | { readonly kind: "json"; readonly value: unknown; readonly health: HealthStatus | null }
  | { readonly kind: "error"; readonly error: ApiError };

export const ok = (value: unknown, health: HealthStatus | null = null): RouteResult => ({
  kind: "json",
  value,
  health,
});
export const failed = (error: ApiError): RouteResult => ({ kind: "error", error });

interface HttpResponse extends EncodedBody {
  readonly status: number;
}

function renderResponse(context: RequestContext, result: RouteResult, acceptEncoding: string): HttpResponse {
  const { endpoint, state } = context;
  const { behaviour } = state;
  const status =
    result.kind === "json"
      ? behaviour.successStatus(endpoint, result.health)
      : behaviour.errorStatus(result.error.cause, endpoint);
  const head: ResponseHead = { endpoint, status };
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

export function responseHeaders(
  context: RequestContext,
  head: ResponseHead,
  own: readonly Header[],
): readonly Header[] {
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
  head: ResponseHead,
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

/** Frees the request's concurrency slot, so that the client's next request finds the slot free. Then sends the response. */
function sendResponse(socket: ServerResponse, context: RequestContext, { status, headers, bytes }: HttpResponse): void {
  const head: ResponseHead = { endpoint: context.endpoint, status };
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

/** Sends the response to a request. Bypasses Fastify, so that faults and variants can change every byte. */
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
  else void Promise.all([waitEventLoopTurns(turns), sleep(state.clock, delayMs, null)]).then(finish);
}

/** A TLS certificate chain and its private key, both in PEM format. */
export interface TlsCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Time until the server closes an idle connection. It is long, because closing could lose a request on its way. */
const keepAliveMs = 72_000;

export function createListener(handle: RequestListener, tls: TlsCertificate | null): Server {
  // Node's own response to a request without `Host` would lack the server's headers. `hostError` in `app.ts` refuses such
  // a request instead.
  const options = { requireHostHeader: false };
  const server = tls === null ? createServer(options, handle) : createSecureServer({ ...options, ...tls }, handle);
  server.keepAliveTimeout = keepAliveMs;
  server.requestTimeout = 0;
  server.setTimeout(0);
  return server;
}

/** Responds 400 to bytes that are not an HTTP request. If the socket already carried a response, only closes it. */
export function respondToMalformed(state: ServerState, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const address = socket.remoteAddress ?? "";
  const context = admitRequest(state, {
    endpoint: "unknown",
    authorization: "",
    address,
    agentId: null,
    isSigned: false,
  });
  const result = failed(apiError("malformed-http", "The received bytes are no HTTP request."));
  const { status, headers, bytes } = renderResponse(context, result, "");
  const named = headers.filter(([name]) => !/^(connection|content-length|transfer-encoding)$/i.test(name));
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    ...named.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(bytes)}`,
    "Connection: close",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  socket.end(bytes);
}

/** Makes the server parse request bodies as JSON, and keep the bytes for signatures. Refuses other content types. */
export function addBodyParser(app: FastifyInstance, state: ServerState): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (request, bytes, done) => {
    request.rawBody = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
    try {
      const { endpoint = "unknown" } = request.routeOptions.config;
      done(null, readJson(state.behaviour, request.headers["content-type"] ?? "", endpoint, bytes.toString()));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

class ThrownApiError extends Error {
  readonly apiError: ApiError;

  constructor(thrown: ApiError) {
    super(thrown.message);
    this.apiError = thrown;
  }
}

function readJson(behaviour: Behaviour, contentType: string, endpoint: Endpoint, text: string): unknown {
  if (text === "") return undefined;
  if (!behaviour.acceptsContentType(contentType, endpoint)) {
    throw new ThrownApiError(fieldError("content-type", "body", "must be application/json"));
  }
  if (!behaviour.acceptsBodyText(text))
    throw new ThrownApiError(fieldError("malformed-json", "body", "cannot be read"));
  try {
    return JSON.parse(text);
  } catch {
    throw new ThrownApiError(fieldError("malformed-json", "body", "is not JSON"));
  }
}

/** Parses a query. An integer of up to 16 digits becomes a number in every field, because `page` must be one. */
export function readQuery(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  if (text === "") return fields;
  for (const [name, value] of new URLSearchParams(text)) {
    fields[name] = /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  }
  return fields;
}

const apiErrorByFastifyCode: Readonly<Record<string, ApiError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: apiError("too-large", "The body is larger than this server reads."),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: fieldError("content-type", "body", "must be application/json"),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: apiError("malformed-http", "The length of the body differs from Content-Length."),
};

export function apiErrorOf(error: FastifyError): ApiError {
  if (error instanceof ThrownApiError) return error.apiError;
  return apiErrorByFastifyCode[error.code] ?? apiError("crash", "The server failed.");
}
