import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** The way in which the proxy between harness and target treats connections. */
export type LinkMode =
  | { readonly kind: "open" }
  /** Refuses new connections. `cutsOpen`: also closes the open ones. */
  | { readonly kind: "refusing"; readonly cutsOpen: boolean }
  /** Resets the connection instead of forwarding a chunk of data. `share`: how often, from 0 to 1. */
  | { readonly kind: "resetting"; readonly share: number }
  /** Delays each chunk of data, by at most `maxMs`. */
  | { readonly kind: "delaying"; readonly maxMs: number }
  /** Answers each request with an error status, as a gateway does if its server is unavailable. */
  | { readonly kind: "gateway"; readonly status: 502 | 503 | 504 }
  /** Replaces this key in requests, as if the target had revoked it. */
  | { readonly kind: "revoking"; readonly key: string };

/** A TCP proxy between the harness and the target. Its mode can change at any time. */
export interface Link {
  readonly port: number;
  readonly setMode: (mode: LinkMode) => Promise<void>;
  /** Whether the proxy has forwarded a request with this key. */
  readonly hasPassed: (key: string) => boolean;
  readonly close: () => Promise<void>;
}

/**
 * Starts the proxy on a free port on loopback.
 *
 * @param to port of the target
 * @param numbers yields random numbers in [0, 1)
 */
export async function startLink(to: number, numbers: () => number): Promise<Link> {
  const sockets = new Set<Socket>();
  const passed = new Set<string>();
  let mode: LinkMode = { kind: "open" };
  const accept = (inward: Socket): void => {
    const outward = connect({ port: to, host: "127.0.0.1", noDelay: true });
    const carry = (from: Socket, other: Socket, change: (piece: Buffer) => Buffer | null): void => {
      sockets.add(from);
      const passLater = inOrder(() => (mode.kind === "delaying" ? numbers() * mode.maxMs : 0));
      from.on("data", (piece: Buffer) => {
        if (mode.kind === "resetting" && numbers() < mode.share) return reset([from, other]);
        const changed = change(piece);
        if (changed !== null) passLater(() => void (other.destroyed || other.write(changed)));
      });
      from.on("end", () => passLater(() => void other.end()));
      from.on("error", () => other.destroy());
      from.on("close", () => {
        sockets.delete(from);
        passLater(() => void other.end());
      });
    };
    carry(inward, outward, (piece) => {
      const [, key] = /^authorization: bearer (\S+)/im.exec(piece.toString("latin1")) ?? [];
      if (key !== undefined && mode.kind === "open") passed.add(key);
      return passRequest(piece, mode, inward);
    });
    carry(outward, inward, (piece) => piece);
  };
  let server = await listen(accept, 0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    hasPassed: (key) => passed.has(key),
    setMode: async (next) => {
      mode = next;
      if (next.kind === "refusing") {
        server.close();
        if (next.cutsOpen) reset(sockets);
      } else if (!server.listening) server = await listen(accept, port);
    },
    close: async () => {
      const closed = server.listening ? once(server, "close") : null;
      server.close();
      reset(sockets);
      await closed;
    },
  };
}

async function listen(accept: (socket: Socket) => void, port: number): Promise<Server> {
  const server = createServer({ noDelay: true }, accept);
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function reset(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.resetAndDestroy();
}

/** Returns a function that calls callbacks after random delays, but keeps their order. */
function inOrder(delayMs: () => number): (act: () => void) => void {
  let last: Promise<void> | null = null;
  return (act) => {
    const ms = delayMs();
    if (ms === 0 && last === null) return act();
    const passed = new Promise<void>((resolve) => void setTimeout(resolve, ms));
    const mine: Promise<void> = Promise.all([last, passed]).then(() => {
      act();
      if (last === mine) last = null;
    });
    last = mine;
  };
}

/** Matches the beginning of a request. */
const requestLine = /^[A-Z]+ \S+ HTTP\/1\.1\r\n/;

/** Returns the data to forward to the target; `null` if the proxy answers the request itself. */
function passRequest(piece: Buffer, mode: LinkMode, client: Socket): Buffer | null {
  if (mode.kind === "revoking") {
    const unknown = Array.from(mode.key).toReversed().join("");
    return Buffer.from(piece.toString("latin1").replaceAll(mode.key, unknown), "latin1");
  }
  if (mode.kind !== "gateway" || !requestLine.test(piece.toString("latin1"))) return piece;
  client.end(gatewayResponse(mode.status));
  return null;
}

function gatewayResponse(status: 502 | 503 | 504): string {
  const phrase = { 502: "Bad Gateway", 503: "Service Temporarily Unavailable", 504: "Gateway Time-out" }[status];
  const body = `<html>\r\n<head><title>${status} ${phrase}</title></head>\r\n<body>\r\n<center><h1>${status} ${phrase}</h1></center>\r\n</body>\r\n</html>\r\n`;
  return [
    `HTTP/1.1 ${status} ${phrase}`,
    "Server: gateway",
    `Date: ${new Date().toUTCString()}`,
    "Content-Type: text/html",
    `Content-Length: ${body.length}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}
