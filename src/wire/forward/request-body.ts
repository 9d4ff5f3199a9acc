import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";

/** The body of a request to pass on: none, all of its bytes, or a stream of bytes that are still arriving. */
export type OutgoingBody = Buffer | PassThrough | null;

/**
 * Reads the body of a request, and calls `onReady` with it. Most bodies arrive together with the head, and become one
 * buffer. A slower body becomes a stream.
 *
 * @param onPiece called with each piece
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
    // The reader of the stream handles the error. Without this listener, it would also end the process when a client
    // disconnects early.
    stream.on("error", () => {});
    for (const piece of first) stream.write(piece);
    onReady(stream);
  });
}
