import type { Night } from "./night.ts";

/** The pairs of request properties that one night combined in some request. */
export interface PairsOfNight {
  /** Start of the night. */
  readonly started: string;
  /** Seed of the night's generated requests; `null` if the night does not name it. */
  readonly seed: number | null;
  readonly seen: number;
  /** Pairs that no earlier night had. */
  readonly added: number;
  /** Pairs that this night or an earlier one had. */
  readonly union: number;
}

/** The pairs of request properties that the nights of a history combined, added up. */
export interface PairsOfNights {
  readonly total: number;
  /** Pairs that some night had. */
  readonly seen: number;
  /** Oldest first. Nights without pairs, or whose suite had other pairs than the last night's, are left out. */
  readonly nights: readonly PairsOfNight[];
  /** The lines or flags that would bring the pairs that the last night did not have, the most first. */
  readonly cut: NonNullable<Night["pairs"]>["cut"];
}

/**
 * Adds up the pairs of the nights, because each night draws other requests. Returns `null` if no night kept its pairs.
 *
 * @param nights oldest first
 */
export function pairsOfNights(nights: readonly Night[]): PairsOfNights | null {
  const last = nights.findLast(({ pairs }) => pairs?.seen !== undefined)?.pairs;
  if (last?.seen === undefined) return null;
  const { seen: newest, total, cut } = last;
  const union = new Uint8Array(Math.ceil(total / 8));
  const rows = nights.flatMap(({ started, pairs }): PairsOfNight[] => {
    if (pairs?.seen === undefined || pairs.seen.of !== newest.of || pairs.total !== total) return [];
    const own = bitsIn(pairs.seen.bits, total);
    const before = countBits(union);
    for (const [at, byte] of own.entries()) union[at] = (union[at] ?? 0) | byte;
    const after = countBits(union);
    return [{ started, seed: pairs.seed ?? null, seen: countBits(own), added: after - before, union: after }];
  });
  return { total, seen: countBits(union), nights: rows, cut };
}

/** Decodes a bitmap of `total` bits. Missing bytes count as zero, and further bits are dropped: a file may be damaged. */
function bitsIn(base64: string, total: number): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(total / 8));
  bytes.set(Buffer.from(base64, "base64").subarray(0, bytes.length));
  const spare = bytes.length * 8 - total;
  const lastAt = bytes.length - 1;
  if (spare > 0) bytes[lastAt] = (bytes[lastAt] ?? 0) & (0xff >> spare);
  return bytes;
}

function countBits(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) for (let rest = byte; rest > 0; rest &= rest - 1) count += 1;
  return count;
}
