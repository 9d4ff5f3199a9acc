export interface BodyPiece {
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

export interface KeptBody {
  readonly pieces: readonly BodyPiece[];
  readonly length: number;
}

/**
 * How an exchange ended. `complete`: the client got the whole response. `client left`: the client closed its connection
 * early. `broken`: the upstream's connection broke after the response head. `no response`: the upstream sent nothing,
 * so the forwarder sent its own response.
 */
export type ForwardedEnd =
  | { readonly kind: "complete" | "client left" }
  | { readonly kind: "broken" | "no response"; readonly detail: string };

/** A client's request and the upstream's response, as plain data for another thread. */
export interface ForwardedExchange {
  readonly method: string;
  readonly url: string;
  /** Header names and values in turn, as the client sent them. */
  readonly requestHeaders: readonly string[];
  readonly requestBody: KeptBody;
  readonly sentMs: number;
  readonly head: { readonly status: number; readonly headers: readonly string[]; readonly headMs: number } | null;
  readonly responseBody: KeptBody;
  readonly endMs: number;
  readonly end: ForwardedEnd;
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
      // Copies the bytes, because otherwise the whole read buffer would be sent to the other thread.
      pieces.push({ bytes: new Uint8Array(bytes), atMs: now() });
    },
    body: (): KeptBody => ({ pieces, length }),
  };
}
