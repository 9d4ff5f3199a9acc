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

/**
 * How long an idle connection stays open. Clients close idle connections earlier, so none sends a request on a
 * connection that the server is closing.
 */
const keepAliveMs = 72_000;

/**
 * Creates the HTTP or HTTPS server that Fastify uses.
 *
 * @throws {Error} Node's own error if certificate and key do not match
 */
export function createListener(handle: RequestListener, tls: TlsFiles | null): Server {
  // Node would refuse a request without `Host` by itself, without the server's headers. `hostError` in `app.ts` refuses
  // it instead.
  const options = { requireHostHeader: false };
  const server = tls === null ? createServer(options, handle) : createSecureServer({ ...options, ...tls }, handle);
  server.keepAliveTimeout = keepAliveMs;
  server.requestTimeout = 0;
  server.setTimeout(0);
  return server;
}

/**
 * Responds 400 to bytes that are not an HTTP request, if the connection is still writable. The key is unknown, so the
 * rate-limit headers are those of the client's address.
 */
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
