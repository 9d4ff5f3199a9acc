import { describe, expect, it } from "vitest";

import { createPaint } from "../../base/text.ts";
import { coverageOf, coverageSection } from "./coverage.ts";
import { sectionLines } from "../terminal/section-lines.ts";
import type { ReportFinding } from "./finding.ts";
import { reportSections } from "./report-sections.ts";
import { sampleReport } from "../testing/sample.ts";

type SavedCoverage = NonNullable<ReportFinding["seen"]>;

const finding = (seen: Pick<SavedCoverage, "cells" | "unseen">): ReportFinding => ({
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

describe("the coverage of a run", () => {
  it("has the largest count of each cell, and the setup that the others need", () => {
    expect(coverageOf(findings)).toEqual([
      {
        of: "invoke",
        cells: [
          { kind: "200", state: "checked", checked: 41, broken: 3 },
          { kind: "500", state: "within reach", needs: failing },
          { kind: "a wrong key", state: "within reach", needs: "an agent" },
        ],
      },
      {
        of: "list",
        cells: [
          { kind: "404", state: "checked", checked: 2, broken: 0 },
          { kind: "500", state: "out of reach" },
          { kind: "a key that is cut off", state: "checked", checked: 1, broken: 0 },
          { kind: "a key that is lengthened", state: "checked", checked: 1, broken: 1 },
        ],
      },
      {
        of: "stream events",
        cells: [
          { kind: "start", state: "checked", checked: 7, broken: 0 },
          { kind: "error", state: "within reach", needs: "a role" },
        ],
      },
    ]);
  });

  it("is shown on the terminal as matrices by status and by key, with different signs within and out of reach", () => {
    expect(sectionLines(coverageSection({ findings }), { width: 100, paint: createPaint(false) })).toEqual([
      "responses   200  404  500",
      "invoke     3/41         ?",
      "list               2    –",
      "with key  wrong  near",
      "invoke        ?",
      "list              1/2",
      "stream events  start 7, error not observed",
      `not observed  invoke 500: needs ${failing}`,
      "not observed  invoke a wrong key: needs an agent",
      "not observed  stream events error: needs a role",
    ]);
  });

  it("is no section if no finding has any", () => {
    const names = reportSections(sampleReport([finding({ cells: [], unseen: [] })])).map(({ name }) => name);
    expect(names).not.toContain("coverage");
  });
});
