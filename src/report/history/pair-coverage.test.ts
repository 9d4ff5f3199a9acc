import { describe, expect, it } from "vitest";

import type { Night } from "./night.ts";
import { pairCoverageByNight } from "./pair-coverage.ts";
import { sampleNight } from "./testing/simulate-nights.ts";

const total = 10;
const cut = [{ needs: "`clock.advance` in the target file", pairs: 4 }];

/** Creates a night that combined the pairs with these numbers. */
function nightOf(at: number, pairs: readonly number[], of = "a hash"): Night {
  const bytes = new Uint8Array(2);
  for (const pair of pairs) bytes[pair >> 3] = (bytes[pair >> 3] ?? 0) | (1 << (pair & 7));
  const bits = Buffer.from(bytes).toString("base64");
  const counts = { covered: pairs.length, reachable: pairs.length, total, cut, unseen: [] };
  return { ...sampleNight(at, [], []), pairs: { ...counts, seed: at + 1, seen: { of, bits } } };
}
const withoutPairs = sampleNight(3, [], []);

describe("the pairs of several nights", () => {
  it("are added up, each night with what it brought", () => {
    const found = pairCoverageByNight([nightOf(0, [0, 1, 9]), nightOf(1, [1, 2]), nightOf(2, [0, 9])]);
    expect(found).toMatchObject({ total, seen: 4, cut });
    expect(found?.nights.map(({ seed, seen, added, union }) => [seed, seen, added, union])).toEqual([
      [1, 3, 3, 3],
      [2, 2, 1, 4],
      [3, 2, 0, 4],
    ]);
  });

  it("are added up only for the pairs of the last suite, without nights that kept none", () => {
    const found = pairCoverageByNight([nightOf(0, [0, 1, 2]), nightOf(1, [3], "another hash"), withoutPairs]);
    expect([found?.seen, found?.nights.length]).toEqual([1, 1]);
  });

  it("do not exist if no night kept any", () => {
    expect(pairCoverageByNight([])).toBeNull();
    expect(pairCoverageByNight([withoutPairs])).toBeNull();
  });

  it.each([
    { bits: "", seen: 0, name: "too short" },
    { bits: Buffer.alloc(40, 0xff).toString("base64"), seen: total, name: "too long" },
    { bits: "no base64 !", seen: expect.any(Number) as number, name: "not base64" },
  ])("never exceed their total if a file has bits that are $name", ({ bits, seen }) => {
    const night = nightOf(0, []);
    const damaged = { ...night, pairs: { ...night.pairs, seen: { of: "a hash", bits } } } as Night;
    const found = pairCoverageByNight([damaged]);
    expect(found?.seen).toEqual(seen);
    expect(found?.seen).toBeLessThanOrEqual(total);
  });
});
