import { describe, expect, it } from "vitest";

import { prepareCovering, type Row } from "./covering-array.ts";

const values = {
  key: ["good", "bad"],
  body: ["whole", "broken", "none"],
  page: ["1", "2", "3", "none"],
  method: ["get", "post"],
};

const covering = prepareCovering({
  values,
  refused: { key: ["bad"], body: ["broken"] },
  exclusions: [
    { when: { method: ["get"] }, only: { body: ["none"] } },
    { when: { method: ["post"] }, only: { body: ["whole", "broken"], page: ["none"] } },
  ],
  isPaired: () => true,
  counts: (value) => value !== "none",
});

const costOf = (): number => 1;

describe("a covering array", () => {
  it("covers every possible pair, and nothing that is excluded", () => {
    const covered = new Set<string>();
    const rows = covering.cover({ covered, seed: 3, costOf });
    expect(covering.possiblePairs().filter((pair) => !covered.has(pair))).toEqual([]);
    expect(rows.some((row) => row["method"] === "post" && row["page"] !== "none")).toBe(false);
    expect(covering.possiblePairs()).toContain("key=bad body=broken");
    expect(covering.possiblePairs()).not.toContain("page=2 method=post");
  });

  it("keeps to exclusions that name values which are missing", () => {
    const fewer = prepareCovering({
      values: { key: ["good"], method: ["get", "post"], page: ["1", "none"] },
      refused: {},
      exclusions: [
        { when: { key: ["lost"] }, only: { method: ["get"] } },
        { when: { method: ["post"] }, only: { page: ["lost", "none"] } },
      ],
      isPaired: () => true,
      counts: (value) => value !== "none",
    });
    expect(fewer.possiblePairs()).toEqual([
      "key=good method=get",
      "key=good method=post",
      "key=good page=1",
      "method=get page=1",
    ]);
  });

  it("counts no pair behind a value that is refused, but for that value's own", () => {
    const row: Row = { key: "bad", body: "none", page: "2", method: "get" };
    expect(covering.pairsIn(row)).toEqual(["key=bad page=2", "key=bad method=get"]);
    expect(covering.pairsIn({ ...row, key: "good" })).toContain("page=2 method=get");
  });

  it("gives the same rows for the same seed, and needs none for what is covered", () => {
    const rowsOf = (seed: number): Row[] => covering.cover({ covered: new Set(), seed, costOf });
    expect(rowsOf(7)).toEqual(rowsOf(7));
    const covered = new Set(covering.possiblePairs());
    expect(covering.cover({ covered, seed: 7, costOf })).toEqual([]);
  });

  it("completes the rows that are needed, and skips one that is impossible", () => {
    const needed = [
      { key: "bad", method: "post" },
      { method: "post", page: "2" },
    ];
    const rows = covering.cover({ covered: new Set(), seed: 1, costOf, needed, isWanted: () => false });
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ key: "bad", method: "post", page: "none" });
  });
});

describe("rows for triples", () => {
  const wide = prepareCovering({
    values: {
      key: ["good", "bad"],
      page: ["1", "2", "3"],
      limit: ["1", "2", "3"],
      order: ["up", "down", "none"],
    },
    refused: { key: ["bad"] },
    exclusions: [{ when: { page: ["3"] }, only: { order: ["none"] } }],
    isPaired: () => true,
    counts: (value) => value !== "none",
  });
  const begun = (count: number): Row[] => Array.from({ length: count }, () => ({ key: "bad" }));
  const triples = (rows: readonly Row[]): Set<string> =>
    new Set(rows.map(({ page, limit, order }) => `${page} ${limit} ${order}`));

  it("begin as asked, keep to the exclusions, and differ from known ones", () => {
    const known = [{ key: "bad", page: "1", limit: "1", order: "up" }];
    const rows = wide.extend({ known, begun: begun(14), seed: 1 });
    expect(rows.every(({ key }) => key === "bad")).toBe(true);
    expect(rows.some(({ page, order }) => page === "3" && order !== "none")).toBe(false);
    expect(triples(rows).size).toBeGreaterThanOrEqual(13);
    expect(triples(rows.slice(0, 5))).not.toContain("1 1 up");
  });

  it("count what another refusal hid as new", () => {
    const known = [{ key: "good", page: "1", limit: "1", order: "up" }];
    expect(triples(wide.extend({ known, begun: begun(40), seed: 1 }))).toContain("1 1 up");
  });

  it("are the same for the same seed, and none where a beginning is not possible", () => {
    const options = { known: [], begun: [...begun(3), { page: "3", order: "up" }], seed: 5 };
    expect(wide.extend(options)).toEqual(wide.extend(options));
    expect(wide.extend(options)).toHaveLength(3);
  });
});
