import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

import { tryParseJson, getPath } from "../../../base/json.ts";
import { type ReceivedRequest, friendly, type Reply } from "./friendly.ts";

/** How a hostile target differs from a correct server. */
export type Harm =
  /** `harm` takes over the connection of each request that `at` accepts. Other requests get correct responses. */
  | {
      readonly kind: "socket";
      readonly at: (request: ReceivedRequest) => boolean;
      readonly harm: (socket: Socket) => void;
    }
  /** Changes each correct response before it is sent. */
  | { readonly kind: "reply"; readonly change: (reply: Reply, request: ReceivedRequest, key: string) => Reply }
  /** Delays each response by this many milliseconds. */
  | { readonly kind: "delay"; readonly ms: (request: ReceivedRequest, count: number) => number }
  /** Sends harmful deliveries to each webhook that the harness creates. `harm` returns a function that ends this. */
  | { readonly kind: "deliver"; readonly harm: (url: string, key: string) => () => void };

export interface HostileTarget {
  readonly baseUrl: string;
  readonly close: () => void;
}

/** Starts a hostile target on a free port on loopback. */
export async function startHostileTarget(harm: Harm, key: string): Promise<HostileTarget> {
  const ends: (() => void)[] = [];
  let count = 0;
  const answer = (request: ReceivedRequest, response: ServerResponse): void => {
    count += 1;
    if (harm.kind === "deliver" && request.path === "/webhooks" && request.method === "POST") {
      const url = getPath(tryParseJson(request.body), "url");
      if (typeof url === "string") ends.push(harm.harm(url, key));
    }
    const reply = friendly(request, key);
    if (harm.kind === "delay") return void setTimeout(() => write(response, reply), harm.ms(request, count));
    write(response, harm.kind === "reply" ? harm.change(reply, request, key) : reply);
  };
  const server = createServer({ maxHeaderSize: 256 * 1024 }, (incoming, response) => {
    void readRequest(incoming).then((request) => {
      if (harm.kind === "socket" && harm.at(request)) harm.harm(incoming.socket);
      else answer(request, response);
    });
  });
  server.requestTimeout = 0;
  server.on("connection", (socket) => socket.on("error", () => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => {
      for (const end of ends) end();
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readRequest(request: IncomingMessage): Promise<ReceivedRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return {
    method: request.method ?? "",
    path: (request.url ?? "").replace(/\?.*/, "").replace(/^\/v1/, ""),
    body: Buffer.concat(pieces).toString(),
    authorization: request.headers.authorization ?? "",
  };
}

/** Writes a response directly to the socket, because Node would refuse to send an invalid one. */
function write({ socket }: ServerResponse, { status, headers, body }: Reply): void {
  const lines = [...headers, ["content-length", String(Buffer.byteLength(body))] as const].map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket?.write(`HTTP/1.1 ${status} OK\r\nconnection: close\r\n${lines.join("")}\r\n`);
  socket?.end(body);
}
