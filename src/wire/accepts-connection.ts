import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { type HarnessLimitError, harnessLimitOf } from "../base/harness-limit.ts";
import { type Network, proxyFor } from "../base/network/network.ts";

const maxConnectMs = 2000;
/**
 * Time for which a connection must stay open to count as accepted. A port forwarder whose server is down accepts each
 * connection, but closes it at once.
 */
const minOpenMs = 30;

/**
 * Whether the server, or the proxy in front of it, accepts a TCP connection. Also `true` if this machine cannot open a
 * connection, e.g. without a free port, because this proves nothing about the server.
 */
export async function acceptsConnection(
  url: string,
  network: Network,
  onHarnessLimit?: (limit: HarnessLimitError) => void,
): Promise<boolean> {
  const { hostname, port, protocol } = new URL(proxyFor(network, url) ?? url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const socket = connect({ host, port: Number(port === "" ? defaultPorts[protocol] : port) });
  let limit: HarnessLimitError | null = null;
  socket.on("error", (error) => {
    limit = harnessLimitOf(error);
    if (limit !== null) onHarnessLimit?.(limit);
  });
  // Reads from the socket, because otherwise Node would not notice that the server closes the connection.
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
