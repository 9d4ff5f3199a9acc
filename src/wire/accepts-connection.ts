import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { type HarnessLimit, harnessLimitOf } from "../base/harness-limit.ts";
import { type Network, proxyFor } from "../base/network/network.ts";

/** Time within which the connection must open. */
const maxConnectMs = 2000;
/** Minimum time that a new connection stays open. A port forwarder whose server is gone closes it at once. */
const minOpenMs = 30;

/**
 * Whether the server at a URL, or its proxy, accepts a TCP connection. Sends no request, and never rejects.
 * `true` also if this machine has no port or file left for a connection: that says nothing about the server.
 */
export async function acceptsConnection(
  url: string,
  network: Network,
  onHarnessLimit?: (limit: HarnessLimit) => void,
): Promise<boolean> {
  const { hostname, port, protocol } = new URL(proxyFor(network, url) ?? url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host, port: Number(port === "" ? defaultPorts[protocol] : port) });
  let limit: HarnessLimit | null = null;
  socket.on("error", (error) => {
    limit = harnessLimitOf(error);
    if (limit !== null) onHarnessLimit?.(limit);
  });
  // Reads and drops what the server sends. Otherwise the end of the connection would not be noticed.
  socket.resume();
  const deadline = new AbortController();
  try {
    const isOpen = await Promise.race([remainsOpen(socket), whenClosed(socket), whenTimedOut(deadline.signal)]);
    return isOpen || limit !== null;
  } finally {
    deadline.abort();
    socket.destroy();
  }
}

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

const whenTimedOut = (signal: AbortSignal): Promise<boolean> =>
  sleep(maxConnectMs, false, { signal }).catch(() => false);

async function remainsOpen(socket: Socket): Promise<boolean> {
  await new Promise((resolve) => socket.once("connect", resolve));
  await sleep(minOpenMs);
  return !socket.destroyed;
}

const whenClosed = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.once("close", () => resolve(false));
  });
