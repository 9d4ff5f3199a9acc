import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";

interface BodyPiece {
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

export interface KeptBody {
  readonly pieces: readonly BodyPiece[];
  readonly length: number;
}

/**
 * End of a forwarded exchange. `complete`: the client got the whole response. `client left`: the client closed its
 * connection early. `broken`: the upstream's connection broke after the response head. `no response`: the upstream sent
 * no valid response head, so the forwarder answered 502.
 */
export type ForwardingEnd =
  | { readonly kind: "complete" | "client left" }
  | { readonly kind: "broken" | "no response"; readonly detail: string };

/** A client's request and the upstream's response, as plain data for another thread. */
export interface ForwardedExchange {
  readonly method: string;
  readonly url: string;
  /** Header names, each followed by its value, as the client sent them. */
  readonly requestHeaders: readonly string[];
  readonly requestBody: KeptBody;
  readonly sentMs: number;
  readonly head: { readonly status: number; readonly headers: readonly string[]; readonly headMs: number } | null;
  readonly responseBody: KeptBody;
  readonly endMs: number;
  readonly end: ForwardingEnd;
}

const keptBytes = 256 * 1024;
const keptPieces = 20_000;

export function collectBody(now: () => number) {
  const pieces: BodyPiece[] = [];
  let [length, kept] = [0, 0];
  return {
    add: (bytes: Uint8Array): void => {
      length += bytes.byteLength;
      if (kept >= keptBytes || pieces.length >= keptPieces) return;
      kept += bytes.byteLength;
      // Copies the bytes, because otherwise the whole read buffer would later be sent to another thread.
      pieces.push({ bytes: new Uint8Array(bytes), atMs: now() });
    },
    body: (): KeptBody => ({ pieces, length }),
  };
}

/**
 * Hop-by-hop headers, which a proxy must not forward (RFC 9110, 7.6.1). `trailer` is not in this set, because the
 * forwarder passes trailers on.
 */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

/** Returns the headers that a proxy forwards. `raw` has each name followed by its value, like Node's `rawHeaders`. */
export function endToEndHeaders(raw: readonly string[], alsoDropped: readonly string[] = []): string[] {
  const named = namedByConnection(raw);
  const kept: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = "", value = ""] = [raw[at], raw[at + 1]];
    const lower = name.toLowerCase();
    if (!hopByHop.has(lower) && !named.includes(lower) && !alsoDropped.includes(lower)) kept.push(name, value);
  }
  return kept;
}

const usualOptions = new Set(["keep-alive", "close", "upgrade", "te", ""]);

function namedByConnection(raw: readonly string[]): string[] {
  const named: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2)
    if (raw[at]?.length === 10 && raw[at]?.toLowerCase() === "connection")
      for (const option of (raw[at + 1] ?? "").split(",")) {
        const name = option.trim().toLowerCase();
        if (!usualOptions.has(name)) named.push(name);
      }
  return named;
}

type OutgoingBody = Buffer | PassThrough | null;

/**
 * Passes the request body to `onReady`: as a buffer if the body arrives with the head, otherwise as a stream. Passes
 * `null` if the request has no body.
 */
export function takeBody(
  incoming: IncomingMessage,
  onPiece: (piece: Uint8Array) => void,
  onReady: (body: OutgoingBody) => void,
): void {
  if (incoming.headers["content-length"] === undefined && incoming.headers["transfer-encoding"] === undefined)
    return onReady(null);
  const first: Buffer[] = [];
  let stream: PassThrough | null = null;
  let isReady = false;
  incoming.on("data", (piece: Buffer) => {
    onPiece(piece);
    if (stream === null) first.push(piece);
    else if (!stream.write(piece)) {
      incoming.pause();
      stream.once("drain", () => incoming.resume());
    }
  });
  incoming.on("end", () => {
    if (stream !== null) return void stream.end();
    isReady = true;
    onReady(Buffer.concat(first));
  });
  incoming.on("close", () => {
    if (!incoming.complete) stream?.destroy(new Error("the client left while it sent its request"));
  });
  setImmediate(() => {
    if (isReady) return;
    stream = new PassThrough();
    // Prevents an unhandled `error` event from ending the process. The code that reads the stream handles the error.
    stream.on("error", () => {});
    for (const piece of first) stream.write(piece);
    onReady(stream);
  });
}
