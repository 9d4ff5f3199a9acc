import type { Server } from "node:http";
import type { Duplex } from "node:stream";

import { availableFiles } from "../base/open-files.ts";

/**
 * The state of an open connection.
 *
 * - `silent`: no complete head has arrived.
 * - `incomplete`: a delivery, of whose body a part is missing.
 * - `complete`: a whole delivery. The receiver never closes it to make room.
 * - `rejected`: not a delivery, so only a refusal is due.
 */
type ConnectionState = "silent" | "incomplete" | "complete" | "rejected";

/** The open connections of a receiver: at most {@link maxConnections}, and fewer if this process can open fewer files. */
export interface Connections {
  readonly mark: (connection: Duplex, state: ConnectionState) => void;
  /** Marks a connection as rejected, and calls `refuse` after a delay that grows with the number of rejected ones. */
  readonly reject: (connection: Duplex, refuse: () => void) => void;
  /**
   * Number of connections that were closed to make room, or not accepted. A delivery may have been lost with each of
   * them.
   */
  readonly refusedCount: () => number;
}

/** An idle connection takes 16 KB of memory, and one with the longest possible head 75 KB. */
export const maxConnections = 2500;
/** Files and connections to reserve for the run itself, so that a flood of connections does not use them up. */
const reservedFiles = 192;
const minConnections = 32;

/**
 * How many connections this process can hold. At the limit of open files, Node would close new connections silently.
 */
const affordableConnections = (): number =>
  Math.max(minConnections, Math.min(maxConnections, availableFiles(maxConnections + reservedFiles) - reservedFiles));

/**
 * A sender delivers within this time. A connection that is older and has no complete request is unlikely to deliver
 * anything.
 */
const deliveryMs = 1000;
/** Which connections are closed first to make room: the oldest in that state, from a minimum age on. */
const closingOrder = [
  { state: "rejected", minAgeMs: 0 },
  { state: "silent", minAgeMs: deliveryMs },
  { state: "incomplete", minAgeMs: deliveryMs },
  { state: "silent", minAgeMs: 0 },
  { state: "incomplete", minAgeMs: 0 },
] as const;

/** Delay of a refusal for each rejected connection, so that a flood gets at most 500 refusals a second. */
const refusalDelayMs = 2;
const maxRefusalDelayMs = 1000;

/** Limits the connections of a server. If a new one is too many, closes the one that is least likely to bring a delivery. */
export function limitConnections(server: Server, now = () => performance.now()): Connections {
  const max = affordableConnections();
  const states = new Map<Duplex, ConnectionState>();
  /** When each connection entered its state, the oldest first. */
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
  // Node reports a connection that could not be accepted as an error of the server.
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
