import { createServer, type RequestListener, type Server } from "node:http";

import { reasonOf } from "../base/errors.ts";
import { addressText, type ListenAddress } from "./address.ts";
import { ReceiverProblem } from "./problem.ts";

const mostConnections = 1024;

/** An HTTP server that no sender can hold up: every request has to be there whole by its deadline. */
export function openServer(requestDeadlineMs: number, handle: RequestListener): Server {
  const options = {
    requestTimeout: requestDeadlineMs,
    headersTimeout: requestDeadlineMs,
    keepAliveTimeout: requestDeadlineMs,
    connectionsCheckingInterval: Math.min(1000, requestDeadlineMs),
    maxHeaderSize: 64 * 1024,
    requireHostHeader: false,
  };
  const server = createServer(options, handle);
  server.maxConnections = mostConnections;
  return server;
}

/**
 * Begins to listen. Returns the address with the port that was taken.
 *
 * @throws {ReceiverProblem}
 */
export async function listen(server: Server, { host, port }: ListenAddress): Promise<ListenAddress> {
  const bound = Promise.withResolvers<void>();
  server.on("error", bound.reject);
  server.listen(port, host, bound.resolve);
  try {
    await bound.promise;
  } catch (error) {
    const reason = reasonOf(error);
    throw new ReceiverProblem(
      `The receiver cannot listen on ${addressText({ host, port })} (${reason}). Give another host and port under \`webhooks.listen\`.`,
    );
  }
  const taken = server.address();
  if (taken === null || typeof taken === "string") throw new Error("the receiver listens on no port");
  return { host, port: taken.port };
}
