import type { Server } from "node:http";
import type { Duplex } from "node:stream";

import { availableFiles } from "../base/open-files.ts";

/**
 * The state of an open connection.
 *
 * - `silent`: the head of a request has not arrived completely.
 * - `incomplete`: a delivery whose body has not arrived completely.
 * - `complete`: a whole delivery. The receiver never closes such a connection to make room.
 * - `rejected`: not a delivery. The receiver only has to refuse the request.
 */
type ConnectionState = "silent" | "incomplete" | "complete" | "rejected";

/**
 * The open connections of a receiver: at most {@link maxConnections}, or fewer if this process may open fewer files.
 */
export interface Connections {
  readonly mark: (connection: Duplex, state: ConnectionState) => void;
  /**
   * Marks a connection as rejected, and calls `refuse` after a delay that grows with the number of rejected
   * connections.
   */
  readonly reject: (connection: Duplex, refuse: () => void) => void;
  /**
   * Returns the number of connections that may have lost a delivery: those that were not accepted, and those that were
   * closed to make room while a delivery may have been arriving.
   */
  readonly refusedCount: () => number;
}

/**
 * Maximum number of open connections. An idle connection takes 16 KB of memory, and one with the longest possible head
 * takes 75 KB.
 */
export const maxConnections = 2500;
/**
 * Number of open files and connections to leave to the rest of the run, so that a flood of connections to the receiver
 * does not use them up.
 */
const reservedFiles = 192;
const minConnections = 32;

/**
 * Returns how many connections this process can hold. At the limit of open files, Node would close new connections
 * silently.
 */
const affordableConnections = (): number =>
  Math.max(minConnections, Math.min(maxConnections, availableFiles(maxConnections + reservedFiles) - reservedFiles));

/**
 * Milliseconds within which a sender usually delivers. An older connection without a complete request is unlikely to
 * deliver anything.
 */
const deliveryMs = 1000;
/**
 * The order in which connections are closed to make room. For each row, the oldest connection in that state is closed
 * if it has the minimum age.
 */
const closingOrder = [
  { state: "rejected", minAgeMs: 0 },
  { state: "silent", minAgeMs: deliveryMs },
  { state: "incomplete", minAgeMs: deliveryMs },
  { state: "silent", minAgeMs: 0 },
  { state: "incomplete", minAgeMs: 0 },
] as const;

/**
 * Milliseconds by which each rejected connection delays a refusal, so that a flood gets at most 500 refusals a second.
 */
const refusalDelayMs = 2;
const maxRefusalDelayMs = 1000;

/**
 * Limits the connections of a server. If a new connection is one too many, closes the connection that is least likely
 * to bring a delivery.
 */
export function limitConnections(server: Server, now = () => performance.now()): Connections {
  const max = affordableConnections();
  const states = new Map<Duplex, ConnectionState>();
  /** When each connection entered its state. The oldest connection of a state comes first. */
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
