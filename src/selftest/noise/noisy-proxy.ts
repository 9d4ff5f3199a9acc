import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** What a network between two machines does to what passes. */
export interface Network {
  /** Each piece waits up to so long, in milliseconds, most of them much less; pieces of a connection keep their order. */
  readonly jitterMs: number;
  /** The share of pieces at which the connection is reset instead: between 0 and 1. */
  readonly resets: number;
  /** So many seconds every `Date` of an answer is set back: a server that keeps an old one, or a proxy that writes its own. */
  readonly dateLagSeconds: number;
}

/** A stretch of bad network on loopback, before one port of this machine. */
export interface NoisyProxy {
  readonly port: number;
  /** Connections that it has reset. */
  readonly resets: () => number;
  readonly close: () => Promise<void>;
}

/**
 * Starts it on a free port.
 *
 * @param numbers in [0, 1): they decide what happens to each piece
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

/** Half of all pieces wait for less than a hundredth of the longest wait, one in ten for more than half of it. */
const steepness = 6.6;

/** Carries what one socket says to the other, late, and its end after it. */
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

/** The piece with an earlier `Date`, of the same length. */
function setBack(piece: Buffer, seconds: number): Buffer {
  if (seconds === 0) return piece;
  const text = piece.toString("latin1").replace(/(\r\ndate: )([^\r\n]+ GMT)/gi, (_, name: string, date: string) => {
    return name + new Date(Date.parse(date) - seconds * 1000).toUTCString();
  });
  return Buffer.from(text, "latin1");
}
