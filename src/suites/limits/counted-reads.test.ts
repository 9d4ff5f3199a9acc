import { describe, expect, it } from "vitest";

import type { Sample } from "../../rules/limits/sample.ts";
import { sample } from "../testing/sample.ts";
import { idsOfCountedReads } from "./counted-reads.ts";

type Sent = readonly [kind: Sample["kind"], remaining: number];

/** Requests one after the other; the id is the position. */
const sentInOrder = (sent: readonly Sent[], overlapMs = 0): Sample[] =>
  sent.map(([kind, remaining], index) =>
    sample({
      id: String(index),
      kind,
      status: 200,
      sentMs: 10 * index,
      headMs: 10 * index + 5 + overlapMs,
      endMs: 10 * index + 5 + overlapMs,
      limit: 100,
      remaining,
      reset: 1_772_604_000,
      resetAfter: 3000,
    }),
  );

describe("reads that were observed to count", () => {
  it.each<[name: string, sent: readonly Sent[], counted: readonly string[]]>([
    [
      "fall by one with the read and with the next request",
      [
        ["invoke", 9],
        ["other", 8],
        ["invoke", 7],
      ],
      ["1"],
    ],
    [
      "may be free where the header is written before a request counts",
      [
        ["invoke", 9],
        ["other", 8],
        ["invoke", 8],
      ],
      [],
    ],
    [
      "include the first list if another list counts",
      [
        ["list", 9],
        ["usage", 8],
        ["list", 7],
        ["invoke", 6],
      ],
      ["1", "2", "0"],
    ],
    [
      "leave out the first list if a list was free",
      [
        ["list", 9],
        ["invoke", 8],
        ["list", 8],
        ["invoke", 7],
        ["list", 6],
        ["invoke", 5],
      ],
      ["4"],
    ],
  ])("%s", (_, sent, counted) => {
    expect(idsOfCountedReads(sentInOrder(sent))).toEqual(counted);
  });

  it("are unknown if requests overlap", () => {
    const sent = [
      ["invoke", 9],
      ["usage", 8],
      ["invoke", 7],
    ] as const;
    expect(idsOfCountedReads(sentInOrder(sent, 20))).toEqual([]);
  });
});
