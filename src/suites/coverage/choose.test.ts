import { describe, expect, it } from "vitest";

import type { Row } from "../../base/covering-array.ts";
import { inSendingOrder } from "./choose.ts";

const worth: ReadonlyMap<string, number> = new Map([
  ["a", 0],
  ["b", 3],
  ["c", 1],
  ["d", 2],
]);
const newPairsIn = ({ query = "" }: Row): number => worth.get(query) ?? 0;
const rows: readonly Row[] = [
  { query: "a", key: "wrong" },
  { query: "b", key: "wrong" },
  { query: "c", key: "free" },
  { query: "d", key: "pro" },
];

describe("the order of generated requests", () => {
  it.each([
    ["is by key, invalid keys last, if the time is enough", 100, ["c", "d", "a", "b"]],
    [
      "begins with the most new pairs if the time is short, by key as far as it certainly reaches",
      40,
      ["d", "b", "c", "a"],
    ],
  ])("%s", (_, leftMs, order) => {
    const sorted = inSendingOrder(rows, { leftMs, perRequestMs: 10 }, newPairsIn);
    expect(sorted.map(({ query }) => query)).toEqual(order);
  });
});
