import { expect, it } from "vitest";

import { anExchange } from "../../run/testing/values.ts";
import { batchesOf } from "./judge-mutants.ts";
import { replacingExchanges, type Mutant } from "./mutant.ts";

const legal = (operator: string, ...ids: readonly string[]): Mutant => ({
  kind: "legal",
  operator,
  place: "usage 200",
  subject: "the body",
  id: ids[0] ?? "",
  expects: [],
  make: () => replacingExchanges(...ids.map((id) => anExchange(id))),
});

it("batches combine mutants of different responses, up to a limit", () => {
  const batches = batchesOf(
    [legal("a", "x1"), legal("b", "x1"), legal("c", "x2", "x3"), legal("d", "x3"), legal("e", "x4"), legal("f", "x5")],
    3,
  );
  expect(batches.map(({ mutants }) => mutants.map(({ operator }) => operator))).toEqual([
    ["a", "c", "e"],
    ["b", "d", "f"],
  ]);
  expect(batches.map(({ replacement }) => [...replacement.exchanges.keys()])).toEqual([
    ["x1", "x2", "x3", "x4"],
    ["x1", "x3", "x5"],
  ]);
});
