import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { type Network, proxyFor } from "../base/network/network.ts";

/** Time within which a connection must open, in milliseconds. */
const connectMs = 2000;
/**
 * Time for which a new connection must stay open to count as accepted, in milliseconds. A port forwarder without its server accepts a
 * connection, but closes it at once.
 */
const minOpenMs = 30;

/**
 * Whether the server at a URL accepts a new TCP connection. Sends no request. Never rejects. If there is a proxy, tests the proxy instead
 * of the server.
 */
export async function acceptsConnection(url: string, network: Network): Promise<boolean> {
  const { hostname, port, protocol } = new URL(proxyFor(network, url) ?? url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host, port: Number(port === "" ? defaultPorts[protocol] : port) });
  // Node would end the process on an error without a listener. The error also closes the socket, so nothing else is to do.
  socket.on("error", () => {});
  // Discards data from the server. Without reading, a connection that the server ends would stay open on this side.
  socket.resume();
  const deadline = new AbortController();
  try {
    return await Promise.race([remainsOpen(socket), whenClosed(socket), whenTimedOut(deadline.signal)]);
  } finally {
    deadline.abort();
    socket.destroy();
  }
}

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

const whenTimedOut = (signal: AbortSignal): Promise<boolean> => sleep(connectMs, false, { signal }).catch(() => false);

async function remainsOpen(socket: Socket): Promise<boolean> {
  await new Promise((resolve) => socket.once("connect", resolve));
  await sleep(minOpenMs);
  return !socket.destroyed;
}

const whenClosed = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.once("close", () => resolve(false));
  });
