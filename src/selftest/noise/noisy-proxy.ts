import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Disturbances of a simulated network between two machines. */
export interface NetworkNoise {
  /**
   * Maximum delay of a chunk of data, in milliseconds. Most chunks wait much less. The chunks of a connection keep
   * their order.
   */
  readonly jitterMs: number;
  /** Probability, from 0 to 1, that the connection is reset at a chunk. */
  readonly resets: number;
  /** By how many seconds every `Date` header is set back, as if the server's clock were slow. */
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
export async function startNoisyProxy(to: number, network: NetworkNoise, numbers: () => number): Promise<NoisyProxy> {
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
    forwardLate(inward, outward, { ...network, dateLagSeconds: 0 }, numbers, cut);
    forwardLate(outward, inward, network, numbers, cut);
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
 * Exponent of the random delays. It makes half of all chunks wait less than 1 % of the maximum delay, and one in ten
 * more than 50 %.
 */
const delayExponent = 6.6;

/** Forwards each chunk of data from one socket to another after a random delay, and in the end the end of the data. */
function forwardLate(
  from: Socket,
  to: Socket,
  { jitterMs, resets, dateLagSeconds }: NetworkNoise,
  numbers: () => number,
  cut: () => void,
): void {
  let last = Promise.resolve();
  const later = (then: () => void): void => {
    const passed = new Promise<void>((resolve) => void setTimeout(resolve, numbers() ** delayExponent * jitterMs));
    last = Promise.all([last, passed]).then(then);
  };
  from.on("data", (piece) => {
    if (numbers() < resets) return cut();
    later(() => void (to.destroyed || to.write(putDateBack(piece, dateLagSeconds))));
  });
  from.on("end", () => later(() => void to.end()));
  from.on("error", () => to.destroy());
  from.on("close", () => later(() => void to.end()));
}

/** Sets back the `Date` header in a chunk of a response, without changing the chunk's length. */
function putDateBack(piece: Buffer, seconds: number): Buffer {
  if (seconds === 0) return piece;
  const text = piece.toString("latin1").replace(/(\r\ndate: )([^\r\n]+ GMT)/gi, (_, name: string, date: string) => {
    return name + new Date(Date.parse(date) - seconds * 1000).toUTCString();
  });
  return Buffer.from(text, "latin1");
}
