import { describe, expect, it } from "vitest";

import { paintFor } from "../../base/paint.ts";
import { coverageOf } from "./coverage.ts";
import { coverageTable } from "../terminal/coverage-table.ts";
import type { ReportFinding } from "./report.ts";

type Seen = NonNullable<ReportFinding["seen"]>;

const finding = (seen: Pick<Seen, "cells" | "unseen">): ReportFinding => ({
  check: "HDR-1",
  clause: "HDR-1",
  suite: "Rate-limit headers",
  level: "must",
  outcome: "pass",
  seen: { looked: 0, broken: 0, ...seen },
});

const cell = (of: string, kind: string, looked: number, broken = 0) => ({ of, kind, looked, broken });
const failing = "`agents.failing` in the target file";

const findings: readonly ReportFinding[] = [
  finding({
    cells: [cell("invoke", "200", 41), cell("list", "404", 2)],
    unseen: [{ of: "invoke", kind: "500", needs: failing }],
  }),
  finding({
    cells: [cell("invoke", "200", 12, 3)],
    unseen: [
      { of: "list", kind: "500" },
      { of: "list", kind: "404" },
    ],
  }),
  finding({
    cells: [cell("list", "a key that is cut off", 1), cell("list", "a key that is lengthened", 1, 1)],
    unseen: [{ of: "invoke", kind: "a wrong key", needs: "an agent" }],
  }),
  finding({
    cells: [cell("stream events", "start", 7)],
    unseen: [{ of: "stream events", kind: "error", needs: "a role" }],
  }),
];

describe("how much a run looked at", () => {
  it("is what any of its findings saw of a cell, and what it takes to see the others", () => {
    expect(coverageOf(findings)).toEqual([
      {
        of: "invoke",
        cells: [
          { kind: "200", state: "seen", looked: 41, broken: 3 },
          { kind: "500", state: "within reach", needs: failing },
          { kind: "a wrong key", state: "within reach", needs: "an agent" },
        ],
      },
      {
        of: "list",
        cells: [
          { kind: "404", state: "seen", looked: 2, broken: 0 },
          { kind: "500", state: "out of reach" },
          { kind: "a key that is cut off", state: "seen", looked: 1, broken: 0 },
          { kind: "a key that is lengthened", state: "seen", looked: 1, broken: 1 },
        ],
      },
      {
        of: "stream events",
        cells: [
          { kind: "start", state: "seen", looked: 7, broken: 0 },
          { kind: "error", state: "within reach", needs: "a role" },
        ],
      },
    ]);
  });

  it("stands on the terminal as matrices of endpoints by statuses and by keys, unseen told apart from out of reach", () => {
    expect(coverageTable(findings, 100, paintFor(false))).toEqual([
      "looked at   200  404  500",
      "invoke     3/41         ?",
      "list               2    -",
      "with key  wrong  near",
      "invoke        ?",
      "list              1/2",
      "stream events  start 7, error not seen",
      `not seen  invoke 500: it takes ${failing}`,
      "not seen  invoke a wrong key: it takes an agent",
      "not seen  stream events error: it takes a role",
    ]);
  });

  it("is not told where no finding speaks of a set", () => {
    expect(coverageTable([{ ...finding({ cells: [], unseen: [] }) }], 100, paintFor(false))).toEqual([]);
  });
});
