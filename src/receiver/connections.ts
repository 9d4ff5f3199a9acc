import type { Server } from "node:http";
import type { Duplex } from "node:stream";

import { availableFiles } from "../base/open-files.ts";

/**
 * The state of an open connection: the parts of a request that have arrived so far.
 *
 * - `silent`: not yet the complete head of a request.
 * - `incomplete`: the head of a delivery, but not yet its complete body.
 * - `complete`: a complete delivery. Such a connection is never closed to make room.
 * - `rejected`: a request that is no delivery, and only has to be refused.
 */
type ConnectionState = "silent" | "incomplete" | "complete" | "rejected";

/**
 * Limits the open connections of a receiver to {@link maxConnections}, or fewer if this process can open fewer files.
 */
export interface Connections {
  readonly mark: (connection: Duplex, state: ConnectionState) => void;
  /**
   * Marks a connection as `rejected`, and calls `refuse` after a delay. The delay grows with the number of rejected
   * connections. `refuse` must close the connection.
   */
  readonly reject: (connection: Duplex, refuse: () => void) => void;
  /** Returns how many connections may have lost a delivery, because the receiver did not accept or closed them. */
  readonly refusedCount: () => number;
}

/** Maximum number of open connections. Each takes 16 KB of memory, up to 75 KB with the longest head. */
export const maxConnections = 2500;
/** Number of file descriptors that the receiver leaves to the rest of the run. */
const reservedFiles = 192;
const minConnections = 32;

/** Returns how many connections this process can keep open. Beyond that, Node would silently close new ones. */
const affordableConnections = (): number =>
  Math.max(minConnections, Math.min(maxConnections, availableFiles(maxConnections + reservedFiles) - reservedFiles));

/** Time within which a delivery usually arrives. Older connections without a delivery are closed first. */
const usualDeliveryMs = 1000;
/**
 * The states in the order in which their connections are closed to make room. In each, the oldest connection is closed,
 * if it is older than `minAgeMs`.
 */
const closingOrder = [
  { state: "rejected", minAgeMs: 0 },
  { state: "silent", minAgeMs: usualDeliveryMs },
  { state: "incomplete", minAgeMs: usualDeliveryMs },
  { state: "silent", minAgeMs: 0 },
  { state: "incomplete", minAgeMs: 0 },
] as const;

/**
 * By how much each open rejected connection delays the next rejection. So a flood gets at most 500 rejections a second.
 */
const refusalDelayMs = 2;
const maxRefusalDelayMs = 1000;

/**
 * Limits the connections of a server. If there are too many, closes the one that is least likely to bring a delivery.
 */
export function limitConnections(server: Server, now = () => performance.now()): Connections {
  const max = affordableConnections();
  const states = new Map<Duplex, ConnectionState>();
  /** For each state, the connections that are in it, and when they entered it. The oldest connection comes first. */
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
