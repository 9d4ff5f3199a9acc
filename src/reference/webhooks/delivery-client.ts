import { Readable } from "node:stream";
import { Agent, request, type Dispatcher } from "undici";
import { getOrAdd } from "../../base/memoize.ts";
import type { Header } from "../behaviour/transport.ts";
import type { Clock } from "../clock.ts";
import { RefusedAddressError, type AddressGuard } from "./address-guard.ts";

export interface DeliveryRequest {
  readonly url: string;
  readonly headers: readonly Header[];
  readonly bytes: Uint8Array;
  readonly localAddress: string | null;
  readonly framing: "length" | "chunked";
  readonly timeoutMs: number;
  readonly awaitsBody: boolean;
  readonly followsRedirects: boolean;
  readonly acceptsResponse: (headerNames: readonly string[]) => boolean;
}

/**
 * The outcome of a delivery request. `silent`: no response in time. `failed`: the URL was refused, the connection
 * failed, or the response was not acceptable.
 */
export type DeliveryOutcome =
  | { readonly kind: "answered"; readonly status: number }
  | { readonly kind: "silent"; readonly failure: string }
  | { readonly kind: "failed"; readonly failure: string };

export type DeliveryClient = ReturnType<typeof deliveryClient>;

/** Maximum bytes to read of a response body that has no influence on the result (`awaitsBody: false`). */
const maxReadBodyBytes = 65_536;
/** Maximum time to read a response body that has no influence on the result, by the server's clock. */
const bodyTimeoutMs = 1000;

/** Maximum real time to open a connection. Needed because the timeout of a delivery does not stop a connection attempt. */
const connectTimeoutMs = 3000;

export function deliveryClient(clock: Clock, guard: AddressGuard) {
  const agents = new Map<string | null, Agent>();
  return {
    send: (delivery: DeliveryRequest): Promise<DeliveryOutcome> => {
      const refused = guard.addressRefusal(delivery.url);
      if (refused !== null) return Promise.resolve({ kind: "failed", failure: refused });
      const { localAddress } = delivery;
      const agent = getOrAdd(agents, localAddress, () => openAgent(guard, localAddress));
      return sendOverWire(clock, agent, delivery, guard);
    },
    close: async () => void (await Promise.all([...agents.values()].map((agent) => agent.destroy()))),
  };
}

const openAgent = (guard: AddressGuard, localAddress: string | null): Agent =>
  new Agent({
    connect: { lookup: guard.lookup, timeout: connectTimeoutMs },
    ...(localAddress !== null && { localAddress }),
    allowH2: false,
    // Switches undici's timeouts off, because the server's own clock decides whether a response is late.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

function sendOverWire(
  clock: Clock,
  dispatcher: Dispatcher,
  delivery: DeliveryRequest,
  guard: AddressGuard,
): Promise<DeliveryOutcome> {
  const { timeoutMs, awaitsBody, acceptsResponse } = delivery;
  const abort = new AbortController();
  return new Promise((resolve) => {
    const onTimeout = () => {
      resolve({ kind: "silent", failure: `no response within ${timeoutMs / 1000} s` });
      abort.abort();
    };
    const timer = Number.isFinite(timeoutMs) ? clock.setTimeout(onTimeout, timeoutMs) : null;
    requestFollowing(delivery, guard, { signal: abort.signal, dispatcher })
      .then(async ({ statusCode, headers, body }) => {
        if (awaitsBody) await body.dump({ limit: Number.POSITIVE_INFINITY });
        resolve(
          acceptsResponse(Object.keys(headers))
            ? { kind: "answered", status: statusCode }
            : { kind: "failed", failure: "the response has an unexpected header" },
        );
        if (!awaitsBody) discardBody(clock, body);
      })
      .catch((error: unknown) => resolve({ kind: "failed", failure: failureOf(error) }))
      .finally(() => timer !== null && clock.clearTimeout(timer));
  });
}

interface Connection {
  readonly signal: AbortSignal;
  readonly dispatcher: Dispatcher;
}

async function requestFollowing(
  { url, headers, bytes, framing, followsRedirects }: DeliveryRequest,
  guard: AddressGuard,
  connection: Connection,
): Promise<Dispatcher.ResponseData> {
  const first = await request(url, {
    ...connection,
    method: "POST",
    headers: headers.flat(),
    body: framing === "length" ? bytes : Readable.from([bytes]),
  });
  const next = followsRedirects ? redirectOf(url, first) : null;
  if (next === null || guard.addressRefusal(next) !== null) return first;
  await first.body.dump();
  return request(next, connection);
}

function redirectOf(url: string, { statusCode, headers: { location } }: Dispatcher.ResponseData): string | null {
  const isRedirect = statusCode >= 300 && statusCode <= 399 && typeof location === "string";
  return isRedirect && URL.canParse(location, url) ? new URL(location, url).href : null;
}

/** Reads a response body to its end, to reuse the connection. Closes the connection if the body is too long or slow. */
function discardBody(clock: Clock, body: Readable): void {
  let bytes = 0;
  const timer = clock.setTimeout(() => body.destroy(), bodyTimeoutMs);
  body.on("error", () => {});
  body.on("close", () => clock.clearTimeout(timer));
  body.on("data", (data: Uint8Array) => {
    bytes += data.length;
    if (bytes > maxReadBodyBytes) body.destroy();
  });
}

const failureTexts: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  UND_ERR_SOCKET: "the connection was closed before a response",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  ENOTFOUND: "the name is unknown",
};

function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return "the request failed";
  const cause = error.cause instanceof RefusedAddressError ? error.cause : error;
  const code = "code" in cause ? String(cause.code) : "";
  return failureTexts[code] ?? cause.message;
}
