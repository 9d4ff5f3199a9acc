import type { Night } from "./night.ts";

interface PairsOfNight {
  readonly started: string;
  readonly seed: number | null;
  readonly seen: number;
  /** Number of pairs of request properties that this night covered and no earlier night had covered. */
  readonly added: number;
  /** Number of pairs of request properties covered by this night or an earlier night. */
  readonly union: number;
}

export interface PairCoverageByNight {
  readonly total: number;
  readonly seen: number;
  /** Nights that had the same list of pairs as the newest night with pairs, oldest first. Others are not comparable. */
  readonly nights: readonly PairsOfNight[];
  /** Flags or target-file lines that would make a run cover more pairs. The newest night with pairs reported them. */
  readonly cut: NonNullable<Night["pairs"]>["cut"];
}

export function pairCoverageByNight(nights: readonly Night[]): PairCoverageByNight | null {
  const last = nights.findLast(({ pairs }) => pairs?.seen !== undefined)?.pairs;
  if (last?.seen === undefined) return null;
  const { seen: newest, total, cut } = last;
  const union = new Uint8Array(Math.ceil(total / 8));
  const rows = nights.flatMap(({ started, pairs }): PairsOfNight[] => {
    if (pairs?.seen === undefined || pairs.seen.of !== newest.of || pairs.total !== total) return [];
    const own = decodeBitmap(pairs.seen.bits, total);
    const before = countBits(union);
    for (const [at, byte] of own.entries()) union[at] = (union[at] ?? 0) | byte;
    const after = countBits(union);
    return [{ started, seed: pairs.seed ?? null, seen: countBits(own), added: after - before, union: after }];
  });
  return { total, seen: countBits(union), nights: rows, cut };
}

/** Decodes a bitmap of `total` bits from base64. The file may be damaged: missing bytes count as zero. */
function decodeBitmap(base64: string, total: number): Uint8Array {
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
