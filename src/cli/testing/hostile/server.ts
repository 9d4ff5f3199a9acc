import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { tryParseJson, getPath } from "../../../base/json.ts";
import { type ReceivedRequest, friendlyReply, type Harm, type Reply } from "./friendly.ts";

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
    const reply = friendlyReply(request, key);
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
