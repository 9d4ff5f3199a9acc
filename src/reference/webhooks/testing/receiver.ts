import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The reaction to a delivery: a status, perhaps with headers, or a way not to respond. */
export type Reaction =
  | number
  | { readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | "silence"
  | "reset"
  | "endless";

/** A delivery that was received. */
export interface ReceivedDelivery {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Names of the headers, in their case on the wire. */
  readonly names: readonly string[];
  readonly bytes: Buffer;
  readonly json: Readonly<Record<string, unknown>>;
  /** Time of arrival on the clock. */
  readonly atMs: number;
}

export interface TestReceiver {
  readonly url: string;
  readonly received: readonly ReceivedDelivery[];
  close(): Promise<void>;
}

/** Starts a receiver on loopback. The n-th delivery gets the n-th reaction. The last reaction repeats. */
export async function testReceiver(nowMs: () => number, reactions: readonly Reaction[]): Promise<TestReceiver> {
  const received: ReceivedDelivery[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (data: Buffer) => chunks.push(data));
    request.on("end", () => {
      received.push(toDelivery(request, Buffer.concat(chunks), nowMs()));
      react(response, reactions[received.length - 1] ?? reactions.at(-1) ?? 204);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function toDelivery(request: IncomingMessage, bytes: Buffer, atMs: number): ReceivedDelivery {
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: request.headers,
    names: request.rawHeaders.filter((_text, index) => index % 2 === 0),
    bytes,
    json: parseJson(bytes),
    atMs,
  };
}

function parseJson(bytes: Buffer): Readonly<Record<string, unknown>> {
  const value: unknown = bytes.length === 0 ? {} : JSON.parse(bytes.toString("utf8"));
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function react(response: ServerResponse, reaction: Reaction): void {
  if (reaction === "silence") return;
  if (reaction === "reset") return void response.socket?.resetAndDestroy();
  if (reaction === "endless") {
    response.writeHead(200);
    response.write("and so on ");
    return;
  }
  const { status, headers } = typeof reaction === "number" ? { status: reaction, headers: {} } : reaction;
  response.writeHead(status, headers).end();
}
