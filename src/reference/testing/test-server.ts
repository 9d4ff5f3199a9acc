import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { tryParseJson } from "../../base/json.ts";
import { virtualClock } from "../clock.ts";
import { type Patch, type Reference, type ReferenceOptions, startReference } from "../reference.ts";

/** A response, read to its end. */
interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; `undefined` if it is no JSON. */
  readonly json: unknown;
}

export interface TestCall {
  readonly method?: string;
  /** A key's name, or the text of an unknown key; `null` for no key. */
  readonly key?: string | null;
  /** The body, which is sent as JSON. A string is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A stream that is being read. */
interface TestStream {
  readonly status: number;
  /** Reads until the received text contains `part`. Rejects if the stream ends before. */
  until(part: string): Promise<string>;
  /** Drops the connection. */
  disconnect(): void;
}

/** A reference server on a virtual clock, and a client for it. */
export interface TestServer {
  readonly reference: Reference;
  call(path: string, call?: TestCall): Promise<TestResponse>;
  invoke(agent: string, call?: TestCall): Promise<TestResponse>;
  stream(agent: string, call?: TestCall): Promise<TestStream>;
  /** Sends raw bytes and returns all received text after the connection has closed. */
  raw(bytes: string | Uint8Array): Promise<string>;
  close(): Promise<void>;
}

export async function testServer(options: ReferenceOptions = {}): Promise<TestServer> {
  const reference = await startReference({ clock: virtualClock(), receivers: "in-process", ...options });
  const dispatcher = new Agent({ connections: 100 });
  const send = (path: string, { method, key = "pro", body, headers = {} }: TestCall) => {
    const text = reference.keys.find(({ name }) => name === key)?.key ?? key;
    return request(path.startsWith("/v1") ? new URL(path, reference.baseUrl) : reference.baseUrl + path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(text === null ? {} : { authorization: `Bearer ${text}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
      dispatcher,
    });
  };
  const call = async (path: string, given: TestCall = {}) => {
    const { statusCode, headers, body } = await send(path, given);
    const text = await body.text();
    return { status: statusCode, headers, text, json: tryParseJson(text) };
  };
  return {
    reference,
    call,
    invoke: (agent, given = {}) => call(`/agents/${agent}/invoke`, { body: { query: "hello" }, ...given }),
    stream: async (agent, given = {}) => {
      const { statusCode, body } = await send(`/agents/${agent}/stream`, { body: { query: "hello" }, ...given });
      let text = "";
      body.on("error", () => {});
      const chunks = body[Symbol.asyncIterator]();
      return {
        status: statusCode,
        until: async (part) => {
          while (!text.includes(part)) {
            const next = await chunks.next();
            if (next.done === true) throw new Error(`the stream ended before ${part}: ${text}`);
            text += String(next.value);
          }
          return text;
        },
        disconnect: () => void body.destroy(),
      };
    },
    raw: (bytes) => rawExchange(Number(new URL(reference.baseUrl).port), bytes),
    close: async () => {
      await reference.close();
      await dispatcher.destroy();
    },
  };
}

function rawExchange(port: number, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let received = "";
    socket.on("data", (data) => (received += data.toString()));
    socket.on("error", reject);
    socket.on("close", () => resolve(received));
    socket.write(bytes);
  });
}

/**
 * Calls `ask` until it resolves to `true`. The server notices some things a moment later, such as a client that has
 * left.
 */
export async function eventually(ask: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 1000; attempt += 1) {
    if (await ask()) return;
  }
  throw new Error("it did not come about in 1000 attempts");
}

/** A reference server whose clock runs at normal speed, but skips the time in which a run only waits. */
export interface FastForwardServer {
  readonly reference: Reference;
  /** The timers that a run uses. They show the same time as the server's clock. */
  readonly timers: { readonly now: () => number; readonly sleep: (ms: number) => Promise<void> };
  /** The number of requests that the server has refused with 429. */
  readonly countRefused: () => number;
  readonly close: () => Promise<void>;
}

const tickMs = 4;
/**
 * The clocks skip a wait in steps of this many milliseconds, so that requests during the wait are sent at their time.
 */
const stepMs = 1000;
/** Real milliseconds to wait after each step, in which requests and deliveries are handled. */
const restMs = 1;
/** After this many real milliseconds without a request, every probe counts as waiting. */
const idleMs = 10;

/** Starts a server with these faults and variants. */
export async function startFastForwardServer(patches: readonly Patch[] = []): Promise<FastForwardServer> {
  let refused = 0;
  let lastRequestMs = -Infinity;
  const reference = await startReference({
    clock: virtualClock(),
    patches,
    onRequest: ({ status }) => {
      lastRequestMs = performance.now();
      if (status === 429) refused += 1;
    },
  });
  let skippedMs = 0;
  let lastMs = performance.now();
  let moving: Promise<void> = Promise.resolve();
  const advanceBy = async (ms: number): Promise<void> => {
    const now = performance.now();
    // The run's clock moves before the server's, so that a delivery during the step does not seem to come from the
    // future.
    skippedMs += ms;
    await reference.advance(now - lastMs + ms);
    lastMs = now;
  };
  const move = (ms: number): Promise<void> => {
    moving = moving.then(() => advanceBy(ms));
    return moving;
  };
  const timeMs = (): number => performance.now() + skippedMs;
  /** The times at which the current waits end. Waits overlap, as on a real clock. */
  const endsMs = new Set<number>();
  const sleepUntil = async (endMs: number): Promise<void> => {
    for (let leftMs = endMs - timeMs(); leftMs > 0; leftMs = endMs - timeMs()) {
      // While other probes send requests, no time is skipped: a minute must not pass between two of their requests.
      const isIdle = performance.now() - lastRequestMs > idleMs;
      if (isIdle && endMs === Math.min(...endsMs)) await move(Math.min(leftMs, stepMs));
      await sleep(restMs);
    }
  };
  const ticking = setInterval(() => void move(0), tickMs);
  return {
    reference,
    timers: {
      now: timeMs,
      sleep: async (ms) => {
        const endMs = timeMs() + ms;
        endsMs.add(endMs);
        await sleepUntil(endMs);
        endsMs.delete(endMs);
      },
    },
    countRefused: () => refused,
    close: async () => {
      clearInterval(ticking);
      await moving;
      await reference.close();
    },
  };
}
