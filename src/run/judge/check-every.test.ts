import { describe, expect, it } from "vitest";

import type { Mismatch } from "../../rules/mismatch.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../../suites/testing/exchange.ts";
import { type Check, suite } from "./check.ts";
import { unproven } from "./finding.ts";
import { judgeAll, type ProbeResults } from "./judge.ts";
import { need, type SkipCause } from "../skip-reason.ts";
import { probe } from "../probe.ts";
import { checkEvery } from "./check-every.ts";
import type { UncoveredCells } from "./coverage.ts";

const seen = probe("all is seen", { requests: 0, stage: "review" }, async () => ({ all: [] as Exchange[] }));
const visitor = probe("the rest is visited", { requests: 1, stage: "coverage" }, async (): Promise<UncoveredCells> => ({
  left: [],
}));

const reach = need("receiver");
const check: Check = checkEvery("INV-2", seen, {
  matrix: {
    description: "every answer",
    cells: [
      { of: "list", kind: "200", reach: null },
      { of: "invoke", kind: "200", reach: null },
      { of: "alerts", kind: "201", reach },
    ],
    coverageProbe: visitor,
  },
  members: ({ all }) => all.map((each) => ({ cell: { of: each.key ?? "", kind: "200" }, proof: each, subject: each })),
  judge: ({ clockMs }): Mismatch | null | undefined =>
    clockMs === 0 ? null : clockMs < 0 ? undefined : { expected: "0", actual: String(clockMs) },
  whenEmpty: unproven("nothing came"),
});

/** An answer of a cell; above 0 it is broken by so much, below it does not count. */
const answer = (id: string, of: string, broken: number, text = "{}") =>
  exchange({ id, key: of, clockMs: broken, text });

function judge(all: readonly Exchange[], left: readonly (readonly [of: string, SkipCause])[] = []) {
  const visited: UncoveredCells = {
    left: left.map(([of, reason]) => ({ of, kind: "200", why: { reason, needs: null } })),
  };
  const results: ProbeResults = new Map([
    [seen.name, [{ instance: null, result: { kind: "ran", evidence: { all } } }]],
    [visitor.name, [{ instance: null, result: { kind: "ran", evidence: visited } }]],
  ]);
  const [judgement] = judgeAll([suite("", [check])], results);
  return judgement;
}

describe("a check of a whole set", () => {
  it("judges every member, and says how many in which cells, and which it has not seen", () => {
    expect(judge([answer("a", "invoke", 0), answer("b", "list", 0), answer("c", "invoke", 0)])?.finding).toEqual({
      kind: "holds",
      seen: {
        looked: 3,
        broken: 0,
        cells: [
          { of: "list", kind: "200", looked: 1, broken: 0 },
          { of: "invoke", kind: "200", looked: 2, broken: 0 },
        ],
        unseen: [{ of: "alerts", kind: "201", reach }],
      },
    });
  });

  it("tells of all that are broken at once, by the first and the smallest of them", () => {
    const all = [
      answer("a", "invoke", 0),
      answer("b", "invoke", 5, "long long"),
      answer("c", "list", 7),
      answer("d", "list", 9, "longer"),
    ];
    expect(judge(all)).toMatchObject({
      finding: { kind: "breach", expected: "0", actual: "on 3 of 4 answers: 5" },
      exchanges: ["b", "c"],
    });
  });

  it("counts nothing of which the clause says nothing", () => {
    expect(judge([answer("a", "invoke", -1)])?.finding).toEqual(unproven("nothing came"));
    expect(judge([answer("a", "invoke", -1), answer("b", "invoke", 3)])?.finding).toMatchObject({ actual: "3" });
  });

  it.each([
    ["too few requests were allowed for", "list", { why: "requests used up", most: 5 }, "unproven"],
    ["nothing but reading was allowed for", "list", { why: "read only" }, "holds"],
    [
      "too few requests were allowed for, and which was seen all the same",
      "invoke",
      { why: "requests used up", most: 5 },
      "holds",
    ],
  ] as const)("of a cell that was not visited because %s", (_, of, reason, kind) => {
    expect(judge([answer("a", "invoke", 0)], [[of, reason]])?.finding.kind).toBe(kind);
  });
});
