/** A piece of a body, and when it arrived, in milliseconds of the forwarder's clock. */
export interface BodyPiece {
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

/** A body as far as it was kept. `length` is its whole length. */
export interface KeptBody {
  readonly pieces: readonly BodyPiece[];
  readonly length: number;
}

/**
 * How an exchange ended.
 *
 * - `complete`: the client got the whole response.
 * - `client left`: the client closed its connection before.
 * - `broken`: the upstream's connection broke after the head of the response.
 * - `no response`: the upstream gave no response, and the forwarder answered in its place.
 */
export type ForwardedEnd =
  | { readonly kind: "complete" | "client left" }
  | { readonly kind: "broken" | "no response"; readonly detail: string };

/** A request of a client and the upstream's response, as they passed the forwarder. Plain data, for another thread. */
export interface ForwardedExchange {
  readonly method: string;
  /** The URL at the upstream. */
  readonly url: string;
  /** Names and values in turn, as the client sent them. */
  readonly requestHeaders: readonly string[];
  readonly requestBody: KeptBody;
  readonly sentMs: number;
  /** `null` if no response came. */
  readonly head: { readonly status: number; readonly headers: readonly string[]; readonly headMs: number } | null;
  readonly responseBody: KeptBody;
  readonly endMs: number;
  readonly end: ForwardedEnd;
}

/** Number of bytes that are kept of a body. */
const keptBytes = 256 * 1024;
/** Number of pieces that are kept of a body. Each piece has its own time. */
const keptPieces = 20_000;

/** Collects a body. Keeps its beginning only, so that its memory is bounded. */
export function collectBody(now: () => number) {
  const pieces: BodyPiece[] = [];
  let [length, kept] = [0, 0];
  return {
    add: (bytes: Uint8Array): void => {
      length += bytes.byteLength;
      if (kept >= keptBytes || pieces.length >= keptPieces) return;
      kept += bytes.byteLength;
      // A copy: the bytes are part of a large read buffer, which would be sent to the other thread as a whole.
      pieces.push({ bytes: new Uint8Array(bytes), atMs: now() });
    },
    body: (): KeptBody => ({ pieces, length }),
  };
}
