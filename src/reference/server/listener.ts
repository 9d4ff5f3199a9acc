import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";

/** A certificate chain and its key, both PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Longer than clients keep a connection, so that it is they who end it. */
const keepAliveMs = 72_000;

/** The server below the framework. Throws Node's own error where certificate and key do not fit. */
export function listener(handle: RequestListener, tls: TlsFiles | null): Server {
  // The framework answers a missing Host itself, with all the headers that an answer has.
  const options = { requireHostHeader: false };
  const server = tls === null ? createServer(options, handle) : createSecureServer({ ...options, ...tls }, handle);
  server.keepAliveTimeout = keepAliveMs;
  server.requestTimeout = 0;
  server.setTimeout(0);
  return server;
}
