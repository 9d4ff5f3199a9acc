import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** How to send a request body: in how many pieces, and with which pauses. */
export interface Pace {
  readonly pieces: number;
  /** Pause between two pieces, in milliseconds. */
  readonly pauseMs: number;
}

/** Returns a body as a stream of `pieces` pieces of about the same size. A piece may end within a character. */
export const pacedBody = (body: string, pace: Pace): Readable => Readable.from(inPieces(body, pace));

async function* inPieces(body: string, { pieces, pauseMs }: Pace): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(body, "utf8");
  const size = Math.ceil(bytes.length / pieces);
  for (let at = 0; at < bytes.length; at += size) {
    if (at > 0) await sleep(pauseMs);
    yield bytes.subarray(at, at + size);
  }
}
