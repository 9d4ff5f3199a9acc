import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";

/** Headers of one connection, not to pass on (RFC 9110, 7.6.1). `trailer` is missing: the forwarder passes it on. */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Returns the headers to pass on: neither hop-by-hop headers, nor those that `Connection` names.
 * @param raw names and values in turn, as `rawHeaders` has them
 * @param alsoDropped further names to leave out, in lower case
 */
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

/** Returns the header names that `Connection` lists, in lower case, without options such as `close`. */
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

/** The body of a request to pass on: none, all of its bytes, or a stream of bytes that are still arriving. */
export type OutgoingBody = Buffer | PassThrough | null;

/**
 * Reads a request's body: as a buffer if it arrives together with the head, otherwise as a stream.
 * @param onReady called once, in the next turn of the event loop at the latest
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
    // Prevents that an error ends the process. The stream's reader also gets the error and handles it.
    stream.on("error", () => {});
    for (const piece of first) stream.write(piece);
    onReady(stream);
  });
}
