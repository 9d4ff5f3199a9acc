import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { request } from "undici";

import type { ReceiverClock } from "../request-handler.ts";
import { type Receiver, startReceiver, type ReceiverOptions } from "../receiver.ts";

/** A clock for a receiver that stands still until a test sets its time. */
interface SettableClock extends ReceiverClock {
  readonly set: (nowMs: number, clockMs?: number, clockAtMostMs?: number) => void;
}

export function createSettableClock(): SettableClock {
  let [nowMs, clockMs, clockAtMostMs] = [0, 0, 0];
  return {
    now: () => nowMs,
    clockOffsetMs: () => clockMs,
    maxClockOffsetMs: () => clockAtMostMs,
    set: (now, clock = 0, clockAtMost = clock) => {
      [nowMs, clockMs, clockAtMostMs] = [now, clock, clockAtMost];
    },
  };
}

/** Starts a receiver on a free port on loopback. */
export const startLocal = (options: Partial<ReceiverOptions> = {}): Promise<Receiver> =>
  startReceiver({ listen: "127.0.0.1:0", publicUrl: null, time: createSettableClock(), ...options });

interface PostOptions {
  readonly method?: "GET" | "HEAD" | "OPTIONS" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Sends a request to a hook. Returns the status, the text and the `Connection` header of the response. */
export async function post(
  url: string,
  body: string | Buffer | null,
  { method = "POST", headers = {}, signal }: PostOptions = {},
): Promise<{ readonly status: number; readonly text: string; readonly connection: string | undefined }> {
  const answer = await request(url, { method, body, headers, ...(signal && { signal }) });
  const text = await answer.body.text();
  return { status: answer.statusCode, text, connection: answer.headers["connection"]?.toString() };
}

/** Opens a TCP connection, over which a test can send bytes that no HTTP client would. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** Resolves when the connection is closed, for whatever reason. */
export const closeOf = (socket: Socket): Promise<void> =>
  new Promise((resolve) => void (socket.closed ? resolve() : socket.once("close", () => resolve())));

/** Returns the head of a POST request to a hook, with additional header lines. */
export const headOf = (url: string, ...lines: readonly string[]): string =>
  `POST ${new URL(url).pathname} HTTP/1.1\r\nHost: receiver\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;
