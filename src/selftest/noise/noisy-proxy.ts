import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Disturbances of a simulated network between two machines. */
export interface Network {
  /**
   * Maximum delay of a chunk of data, in milliseconds. Most chunks wait much less. The chunks of a connection keep
   * their order.
   */
  readonly jitterMs: number;
  /** Probability, from 0 to 1, that the connection is reset at a chunk. */
  readonly resets: number;
  /** How much every `Date` header is put back, in seconds. Servers and proxies with a slow clock send such a `Date`. */
  readonly dateLagSeconds: number;
}

/** A proxy on loopback that simulates a bad network in front of one port. */
export interface NoisyProxy {
  readonly port: number;
  /** Returns the number of connections that the proxy has reset. */
  readonly resets: () => number;
  readonly close: () => Promise<void>;
}

/**
 * Starts the proxy on a free port.
 *
 * @param to the port to forward to
 * @param numbers random numbers in [0, 1) that decide about each chunk
 */
export async function startNoisyProxy(to: number, network: Network, numbers: () => number): Promise<NoisyProxy> {
  const sockets = new Set<Socket>();
  let resets = 0;
  const server = createServer({ noDelay: true }, (inward) => {
    const outward = connect({ port: to, host: "127.0.0.1", noDelay: true });
    const both = [inward, outward] as const;
    const cut = (): void => {
      resets += 1;
      for (const socket of both) socket.resetAndDestroy();
    };
    for (const socket of both) {
      sockets.add(socket);
      socket.on("close", () => void sockets.delete(socket));
    }
    carry(inward, outward, { ...network, dateLagSeconds: 0 }, numbers, cut);
    carry(outward, inward, network, numbers, cut);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: portOf(server),
    resets: () => resets,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/**
 * Exponent of the random delays. It makes half of all chunks wait less than a hundredth of the maximum delay, and one
 * in ten more than half of it.
 */
const steepness = 6.6;

/** Forwards data from one socket to another with delays. Then forwards the end of the data. */
function carry(
  from: Socket,
  to: Socket,
  { jitterMs, resets, dateLagSeconds }: Network,
  numbers: () => number,
  cut: () => void,
): void {
  let last = Promise.resolve();
  const later = (then: () => void): void => {
    const passed = new Promise<void>((resolve) => void setTimeout(resolve, numbers() ** steepness * jitterMs));
    last = Promise.all([last, passed]).then(then);
  };
  from.on("data", (piece) => {
    if (numbers() < resets) return cut();
    later(() => void (to.destroyed || to.write(setBack(piece, dateLagSeconds))));
  });
  from.on("end", () => later(() => void to.end()));
  from.on("error", () => to.destroy());
  from.on("close", () => later(() => void to.end()));
}

/** Puts back the `Date` header in a chunk of a response. The length of the chunk stays the same. */
function setBack(piece: Buffer, seconds: number): Buffer {
  if (seconds === 0) return piece;
  const text = piece.toString("latin1").replace(/(\r\ndate: )([^\r\n]+ GMT)/gi, (_, name: string, date: string) => {
    return name + new Date(Date.parse(date) - seconds * 1000).toUTCString();
  });
  return Buffer.from(text, "latin1");
}
