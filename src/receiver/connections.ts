import type { Server } from "node:http";
import type { Duplex } from "node:stream";

import { availableFiles } from "../base/open-files.ts";

/** `silent`: no request head has arrived. `incomplete`: a head has arrived, but not the whole body. */
type ConnectionState = "silent" | "incomplete" | "complete" | "rejected";

/** Limits the number of a receiver's open connections. */
export interface Connections {
  readonly mark: (connection: Duplex, state: ConnectionState) => void;
  /** Marks a connection as `rejected`. After a short delay, calls `refuse`, which must close the connection. */
  readonly reject: (connection: Duplex, refuse: () => void) => void;
  readonly refusedCount: () => number;
}

/** Maximum number of open connections. Each connection takes 16 to 75 KB of memory, depending on the request head. */
export const maxConnections = 2500;
/** Number of file descriptors that the receiver leaves free for other parts of the process. */
const reservedFiles = 192;
const minConnections = 32;

/** Returns how many connections this process can keep open. Beyond that, Node would silently close new ones. */
const affordableConnections = (): number =>
  Math.max(minConnections, Math.min(maxConnections, availableFiles(maxConnections + reservedFiles) - reservedFiles));

/** If a connection brings no delivery within this time, it will probably never bring one. */
const usualDeliveryMs = 1000;
/** The order in which connections are closed to make room. Each entry skips connections younger than `minAgeMs`. */
const closingOrder = [
  { state: "rejected", minAgeMs: 0 },
  { state: "silent", minAgeMs: usualDeliveryMs },
  { state: "incomplete", minAgeMs: usualDeliveryMs },
  { state: "silent", minAgeMs: 0 },
  { state: "incomplete", minAgeMs: 0 },
] as const;

/**
 * Slows down a flood of connections. A rejection waits this many ms for each rejected connection that is still open.
 */
const refusalDelayMs = 2;
const maxRefusalDelayMs = 1000;

/** Limits a server's open connections. If there are too many, closes one that will probably bring no delivery. */
export function limitConnections(server: Server, now = () => performance.now()): Connections {
  const max = affordableConnections();
  const states = new Map<Duplex, ConnectionState>();
  const sinceMs = { silent: new Map(), incomplete: new Map(), complete: new Map(), rejected: new Map() } as Record<
    ConnectionState,
    Map<Duplex, number>
  >;
  let refused = 0;

  const forget = (connection: Duplex): void => {
    const state = states.get(connection);
    if (state !== undefined) sinceMs[state].delete(connection);
    states.delete(connection);
  };
  const place = (connection: Duplex, state: ConnectionState): void => {
    forget(connection);
    states.set(connection, state);
    sinceMs[state].set(connection, now());
  };
  const mark = (connection: Duplex, state: ConnectionState): void => {
    if (states.has(connection)) place(connection, state);
  };
  const makeRoom = (): void => {
    const nowMs = now();
    for (const { state, minAgeMs } of closingOrder) {
      const [oldest] = sinceMs[state];
      if (oldest === undefined) continue;
      const [connection, fromMs] = oldest;
      if (nowMs - fromMs < minAgeMs) continue;
      if (state === "incomplete" || (state === "silent" && minAgeMs === 0)) refused += 1;
      forget(connection);
      connection.destroy();
      return;
    }
  };

  server.on("connection", (connection) => {
    place(connection, "silent");
    connection.on("close", () => forget(connection));
    if (states.size > max) makeRoom();
  });
  // Node emits `error` on the server for each connection that it could not accept.
  server.on("error", () => void (refused += 1));

  return {
    mark,
    reject: (connection, refuse) => {
      mark(connection, "rejected");
      const timer = setTimeout(refuse, Math.min(maxRefusalDelayMs, sinceMs.rejected.size * refusalDelayMs));
      connection.on("close", () => clearTimeout(timer));
    },
    refusedCount: () => refused,
  };
}
