import { createServer, type RequestListener, type Server, STATUS_CODES } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import type { FastifyError, FastifyInstance } from "fastify";
import { apiError, fieldError, type ApiError } from "../api-error.ts";
import type { Behaviour } from "../behaviour/behaviour.ts";
import type { Endpoint } from "../endpoint.ts";
import { admitRequest } from "./admission.ts";
import { failed, renderResponse } from "./response.ts";
import type { ServerState } from "./state.ts";

/** A certificate chain and its key, both PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** How long an idle connection stays open; usual clients close the connection sooner. */
const keepAliveMs = 72_000;

export function createListener(handle: RequestListener, tls: TlsFiles | null): Server {
  // Node's refusal of a request without `Host` lacks the server's headers. `hostError` in `app.ts` refuses these
  // requests instead.
  const options = { requireHostHeader: false };
  const server = tls === null ? createServer(options, handle) : createSecureServer({ ...options, ...tls }, handle);
  server.keepAliveTimeout = keepAliveMs;
  server.requestTimeout = 0;
  server.setTimeout(0);
  return server;
}

/** Responds 400 to bytes that are not an HTTP request. */
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

/** Makes the server parse every request body as JSON and keep the body's bytes for the signature. */
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

/** Reads a query string; digits become numbers, because the schema of `page` and `limit` has integers. */
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
