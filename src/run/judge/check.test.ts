import { describe, expect, it } from "vitest";

import type { Mismatch } from "../../rules/bodies/errors.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../../suites/testing/evidence.ts";
import { type Check, checkEvery, suite } from "./check.ts";
import { type UncoveredCells, unproven } from "./finding.ts";
import { judgeEvidence, type ProbeResults } from "./judge-evidence.ts";
import { need, type SkipCause } from "../skip-reason.ts";
import { probe } from "../probe.ts";

const allExchanges = probe("all exchanges", { requests: 0, stage: "review" }, async () => ({ all: [] as Exchange[] }));
const visitor = probe("uncovered cells", { requests: 1, stage: "coverage" }, async (): Promise<UncoveredCells> => ({
  left: [],
}));

const reach = need("receiver");
const check: Check = checkEvery("INV-2", allExchanges, {
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
  whenEmpty: unproven("no case came"),
});

/** A response in a cell. `broken` above 0: the response breaks the clause. Below 0: the clause does not apply. */
const answer = (id: string, of: string, broken: number, text = "{}") =>
  exchange({ id, key: of, clockMs: broken, text });

function judge(all: readonly Exchange[], left: readonly (readonly [of: string, SkipCause])[] = []) {
  const visited: UncoveredCells = {
    left: left.map(([of, reason]) => ({ of, kind: "200", why: { reason, needs: null } })),
  };
  const results: ProbeResults = new Map([
    [allExchanges.name, [{ instance: null, result: { kind: "ran", evidence: { all } } }]],
    [visitor.name, [{ instance: null, result: { kind: "ran", evidence: visited } }]],
  ]);
  const [judgement] = judgeEvidence([suite("", [check])], results);
  return judgement;
}

describe("a check of many cases", () => {
  it("judges every case, and reports the coverage of each cell", () => {
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

  it("reports all broken cases as one breach, shown by the first and the smallest", () => {
    const all = [
      answer("a", "invoke", 0),
      answer("b", "invoke", 5, "long long"),
      answer("c", "list", 7),
      answer("d", "list", 9, "longer"),
    ];
    expect(judge(all)).toMatchObject({
      finding: { kind: "breach", expected: "0", actual: "on 3 of 4 responses: 5" },
      evidenceIds: ["b", "c"],
    });
  });

  it("does not count cases that the clause does not apply to", () => {
    expect(judge([answer("a", "invoke", -1)])?.finding).toEqual(unproven("no case came"));
    expect(judge([answer("a", "invoke", -1), answer("b", "invoke", 3)])?.finding).toMatchObject({ actual: "3" });
  });

  it.each([
    ["the request budget was too small", "list", { why: "requests used up", most: 5 }, "unproven"],
    ["too few executions were allowed", "list", { why: "executions used up", most: 0 }, "unproven"],
    ["the run was read-only", "list", { why: "read only" }, "holds"],
    [
      "the request budget was too small, although another probe covered the cell",
      "invoke",
      { why: "requests used up", most: 5 },
      "holds",
    ],
  ] as const)("for a cell that was not covered because %s", (_, of, reason, kind) => {
    expect(judge([answer("a", "invoke", 0)], [[of, reason]])?.finding.kind).toBe(kind);
  });
});
