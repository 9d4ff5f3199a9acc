import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { type Network, proxyFor } from "../base/network/network.ts";

/** How long a connection may take to open, in milliseconds. */
const connectMs = 2000;
/**
 * How long a new connection must stay open to count as accepted, in milliseconds. A port forwarder whose server is dead accepts a
 * connection and closes it at once.
 */
const stableMs = 30;

/**
 * Whether the server at a URL accepts a new TCP connection now. Sends no request, and never rejects. With a proxy, tells whether the proxy
 * accepts one.
 */
export async function acceptsConnection(url: string, network: Network): Promise<boolean> {
  const { hostname, port, protocol } = new URL(proxyFor(network, url) ?? url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host, port: Number(port === "" ? defaultPorts[protocol] : port) });
  // Without a listener, an error would end the process. The error also closes the socket, which `closed` reports.
  socket.on("error", () => {});
  // Reads what the server sends, because otherwise a connection that the server ends would stay open here.
  socket.resume();
  const deadline = new AbortController();
  try {
    return await Promise.race([remainsOpen(socket), closed(socket), timeout(deadline.signal)]);
  } finally {
    deadline.abort();
    socket.destroy();
  }
}

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

const timeout = (signal: AbortSignal): Promise<boolean> => sleep(connectMs, false, { signal }).catch(() => false);

async function remainsOpen(socket: Socket): Promise<boolean> {
  await new Promise((resolve) => socket.once("connect", resolve));
  await sleep(stableMs);
  return !socket.destroyed;
}

const closed = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.once("close", () => resolve(false));
  });
