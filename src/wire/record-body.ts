import { createHash } from "node:crypto";

import type { Body, Header } from "../evidence/exchange.ts";

const maxWholeBytes = 256 * 1024;
/** Number of bytes to record from each end of a body that is longer than `maxWholeBytes`. */
const keptEdgeBytes = 16 * 1024;

const maxUnmergedPieces = 1024;

/** Creates a recorder for a body. If a body is long, the recorder keeps only the two ends, the size and a hash. */
export function recordBody() {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let long: { head: Buffer; tail: Buffer; hash: ReturnType<typeof createHash> } | null = null;

  const add = (piece: Uint8Array): void => {
    bytes += piece.byteLength;
    if (long !== null) {
      long.hash.update(piece);
      long.tail = Buffer.concat([long.tail, piece]).subarray(-keptEdgeBytes);
      return;
    }
    pieces.push(piece);
    // Merges small chunks into one, because each small chunk can keep a much larger read buffer in memory.
    if (pieces.length > maxUnmergedPieces) pieces.splice(0, pieces.length, Buffer.concat(pieces));
    if (bytes <= maxWholeBytes) return;
    const whole = Buffer.concat(pieces);
    pieces.length = 0;
    long = {
      head: Buffer.from(whole.subarray(0, keptEdgeBytes)),
      tail: Buffer.from(whole.subarray(-keptEdgeBytes)),
      hash: createHash("sha256").update(whole),
    };
  };

  const body = (): Body => {
    if (bytes === 0) return { kind: "none" };
    const [first] = pieces;
    if (long === null)
      return recordWholeBody(first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces));
    const sha256 = long.hash.copy().digest("hex");
    return { kind: "cut", head: long.head.toString("utf8"), tail: long.tail.toString("utf8"), bytes, sha256 };
  };

  return { add, body, bytes: (): number => bytes };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function recordWholeBody(bytes: Uint8Array): Body {
  if (bytes.byteLength === 0) return { kind: "none" };
  try {
    return { kind: "text", text: utf8.decode(bytes), bytes: bytes.byteLength };
  } catch {
    return { kind: "base64", base64: Buffer.from(bytes).toString("base64"), bytes: bytes.byteLength };
  }
}

export function parseRawHeaders(raw: unknown): Header[] {
  const found: Header[] = [];
  if (!Array.isArray(raw)) return found;
  const parts: readonly unknown[] = raw;
  for (let at = 0; at + 1 < parts.length; at += 2) found.push([textOf(parts[at]), textOf(parts[at + 1])]);
  return found;
}

const textOf = (part: unknown): string => (Buffer.isBuffer(part) ? part.toString("utf8") : String(part));
