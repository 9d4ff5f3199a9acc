import { createServer, type RequestListener, type Server, STATUS_CODES } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import { apiError } from "../api-error.ts";
import { failed, renderResponse } from "./response.ts";
import { admitRequest } from "./admission.ts";
import type { ServerState } from "./state.ts";

/** A certificate chain and its key, both PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Longer than clients keep a connection, so that it is they who end it. */
const keepAliveMs = 72_000;

/** The server below the framework. Throws Node's own error where certificate and key do not fit. */
export function createListener(handle: RequestListener, tls: TlsFiles | null): Server {
  // The framework answers a missing Host itself, with all the headers that an answer has.
  const options = { requireHostHeader: false };
  const server = tls === null ? createServer(options, handle) : createSecureServer({ ...options, ...tls }, handle);
  server.keepAliveTimeout = keepAliveMs;
  server.requestTimeout = 0;
  server.setTimeout(0);
  return server;
}

/**
 * Answers bytes that are no HTTP request, as far as there is still somebody to answer: 400 in the error form, with the
 * headers that every answer has. They speak of the address, for nobody can say whose key it was.
 */
export function answerMalformed(state: ServerState, error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const arrival = {
    operation: "unknown",
    authorization: "",
    address: socket.remoteAddress ?? "",
    agentId: null,
  } as const;
  const context = admitRequest(state, arrival);
  const answer = failed(apiError("malformed-http", "The bytes received are no HTTP request."));
  const { status, headers, bytes } = renderResponse(state, context, answer, "");
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
