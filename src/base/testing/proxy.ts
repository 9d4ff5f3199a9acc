import { once } from "node:events";
import { createServer, type IncomingMessage, request, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** A forward proxy on loopback for tests. It connects to one port of this machine, whatever host is asked for. */
export interface ForwardProxy {
  readonly url: string;
  /** The requests that the proxy has received: `CONNECT host:port`, or a method and a whole URL. */
  readonly requests: string[];
  readonly close: () => void;
}

/** @param allowed the required `Proxy-Authorization`; `null` for none */
export async function startProxy(port: number, allowed: string | null = null): Promise<ForwardProxy> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const isLetIn = ({ headers }: IncomingMessage): boolean =>
    allowed === null || headers["proxy-authorization"] === allowed;
  const server = createServer((incoming, response) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    if (!isLetIn(incoming)) return void response.writeHead(407).end();
    forwardTo(port)(incoming, response);
  });
  server.on("connection", (socket) => void sockets.add(socket));
  server.on("connect", (incoming, socket: Socket, head: Buffer) => {
    requests.push(`CONNECT ${incoming.url}`);
    if (!isLetIn(incoming)) return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    const onward = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    sockets.add(onward);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
  });
  await listening(server);
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    requests,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Forwards a request to a port of this machine, and streams the response back. */
export const forwardTo =
  (port: number): RequestListener =>
  (incoming, response) => {
    const { method, headers } = incoming;
    const { pathname, search } = new URL(incoming.url ?? "/", "http://any");
    const onward = request({ host: "127.0.0.1", port, method, path: pathname + search, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    incoming.pipe(onward);
  };

export async function listening(server: Server): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

export const portOf = (server: Server): number => (server.address() as AddressInfo).port;
