import type { Flow } from "../../scenarios.ts";
import type { Network } from "../../../base/network/network.ts";
import type { LoadSample } from "../../load-evidence.ts";
import { sampleOfResponse, unansweredSample } from "../../load-sample.ts";
import { epochMs } from "../../wall-clock.ts";
import { closesConnection, headersOf } from "./raw-headers.ts";
import { type PreparedRequest, prepareRequest, type RequestTarget } from "./request.ts";
import { type AutocannonOptions, type AutocannonListener, startAutocannon } from "./client.ts";
import type { Transport } from "../../../wire/transport.ts";

/** Above the 30 seconds that an agent has by default. */
const timeoutSeconds = 40;
/** After a stop, answers that are on the way have so long to come. */
const graceMs = 2000;

/** Who sends with autocannon: whole answers of requests that are all alike. */
export const fitsAutocannon = ({ operation, shape, leaveAfterMs }: Flow): boolean =>
  operation.kind !== "stream" && leaveAfterMs === null && shape.kind !== "after refusal";

/** What is known of a request that is on the way. */
interface OnTheWay {
  readonly sentMs: number;
  /** Written to a connection that the server had said it would close: it is never read, and says nothing of the server. */
  readonly isDoomed: boolean;
  head: { readonly status: number; readonly rawHeaders: readonly string[]; readonly headMs: number } | null;
}

/** Sends a flow; settles when all of it was answered, or after `signal` stops it. */
export async function sendWithAutocannon(
  flow: Flow,
  call: PreparedRequest,
  { client }: Network,
  signal: AbortSignal,
  record: (sample: LoadSample) => void,
): Promise<void> {
  const { connections, amount } = sizeOf(flow);
  let left = amount;
  while (!signal.aborted && left !== 0) {
    const size = { connections: left === null ? connections : Math.min(connections, left), amount: left };
    // What went to a connection that the server then closed was never read: it is sent once more.
    const unread = await barrageOf(flow, { ...call, ...size, client, timeoutSeconds }, signal, record);
    left = amount === null ? 0 : unread;
  }
}

/** Sends so many; settles with how many of them were written to connections that the server had said it would close. */
async function barrageOf(
  flow: Flow,
  barrage: AutocannonOptions,
  signal: AbortSignal,
  record: (sample: LoadSample) => void,
): Promise<number> {
  let unread = 0;
  const under = startAutocannon(
    barrage,
    listening(flow, record, () => (unread += 1)),
  );
  let grace: NodeJS.Timeout | undefined;
  const stop = (): void => {
    under.end();
    grace = setTimeout(under.stop, graceMs);
  };
  signal.addEventListener("abort", stop, { once: true });
  const over = flow.shape.kind === "closed" ? setTimeout(under.end, flow.shape.seconds * 1000) : undefined;
  try {
    await under.done;
    return unread;
  } finally {
    signal.removeEventListener("abort", stop);
    clearTimeout(over);
    clearTimeout(grace);
  }
}

function sizeOf({ shape }: Flow): { readonly connections: number; readonly amount: number | null } {
  switch (shape.kind) {
    case "at once":
      return { connections: shape.requests, amount: shape.requests };
    case "in turn":
      return { connections: 1, amount: shape.requests };
    case "shared":
      return { connections: Math.min(shape.atOnce, shape.requests), amount: shape.requests };
    case "closed":
      return { connections: shape.atOnce, amount: null };
    case "paced":
    case "after refusal":
      throw new Error(`autocannon does not send "${shape.kind}"`);
  }
}

function listening(
  { name: flow, key, operation: { kind: endpoint } }: Flow,
  record: (sample: LoadSample) => void,
  recordUnread: () => void,
): AutocannonListener {
  const underway = new Map<number, OnTheWay>();
  /** Connections that the server closes after its last answer. autocannon uses them once more nevertheless. */
  const closing = new Set<number>();
  const lost = (connection: number, left: boolean): void => {
    const request = underway.get(connection);
    underway.delete(connection);
    if (request?.isDoomed === true) recordUnread();
    else if (request !== undefined)
      record(unansweredSample({ flow, key, sentMs: request.sentMs, endMs: epochMs(), left }));
  };
  return {
    sent: (connection) => {
      // A connection that broke sends its next request without a word on the last one.
      lost(connection, false);
      underway.set(connection, { sentMs: epochMs(), isDoomed: closing.delete(connection), head: null });
    },
    head: (connection, status, rawHeaders) => {
      const request = underway.get(connection);
      if (request !== undefined) request.head = { status, rawHeaders, headMs: epochMs() };
    },
    answered: (connection, body) => {
      const request = underway.get(connection);
      if (request === undefined || request.head === null) return;
      underway.delete(connection);
      const { status, rawHeaders, headMs } = request.head;
      const { sentMs } = request;
      const headers = headersOf(rawHeaders);
      if (closesConnection(headers)) closing.add(connection);
      record(
        sampleOfResponse({ flow, key, endpoint, sentMs, headMs, endMs: epochMs(), status, headers, body, left: false }),
      );
    },
    ended: (connection) => lost(connection, true),
  };
}

/**
 * Asks for an agent's health, which uses nothing up: is somebody there, with a certificate that holds (autocannon checks none), and do
 * connections stay open? Tells the latter.
 *
 * @throws {Error} where there is no answer at all
 */
export async function keepsConnections(where: RequestTarget, key: string, wire: Transport): Promise<boolean> {
  const call = prepareRequest({ kind: "health", agent: "answering" }, key, where);
  const { answer } = await wire.open({ ...call, headers: Object.entries(call.headers), key: null }).finished;
  if (answer.kind === "unanswered")
    throw new Error(
      `${call.url} does not answer (${answer.detail}): is the target running, and is its base URL right?`,
    );
  return !closesConnection(answer.headers);
}
