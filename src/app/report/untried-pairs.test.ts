import { describe, expect, it } from "vitest";

import type { ReportFinding } from "../../report/model/finding.ts";
import { narrowReport } from "../../report/model/requirements.ts";
import { clauseOutcomes, verdictOf } from "../../report/model/verdict.ts";
import { sampleFinding, sampleReport } from "../../report/testing/sample.ts";
import type { Selection } from "../../run/plan/selection.ts";
import type { PairCoverage } from "../../suites/coverage/probe.ts";
import { untriedPairs, withUntriedPairFindings } from "./findings.ts";

const passed = ["AUTH-1", "AUTH-3"].map((clause) =>
  sampleFinding({ clause, check: clause, level: "must", outcome: "pass" }),
);
const unseen = ["endpoint=list key=wrong", "key=wrong page=second"];

describe("pairs of properties that could have been seen and were not", () => {
  it("keep their must clauses from passing, and break nothing", () => {
    const findings = withUntriedPairFindings(passed, unseen);
    expect(findings.at(-1)).toMatchObject({ clause: "AUTH-3", outcome: "skipped", since: "1.1", unseenPairs: 2 });
    expect(findings.at(-1)?.reason).toContain("endpoint=list key=wrong");
    expect(Object.fromEntries(clauseOutcomes(findings))).toEqual({ "AUTH-1": "pass", "AUTH-3": "skipped" });
    expect(verdictOf(findings, null)).toBe("partial");
  });

  it("leave a broken clause broken", () => {
    const broken: ReportFinding[] = [sampleFinding({ clause: "AUTH-3", level: "must", outcome: "fail" })];
    const findings = withUntriedPairFindings(broken, unseen);
    expect(clauseOutcomes(findings).get("AUTH-3")).toBe("fail");
    expect(verdictOf(findings, null)).toBe("nonconformant");
  });

  it("change nothing if there are none, or if the run did not judge their clauses", () => {
    expect(withUntriedPairFindings(passed, [])).toEqual(passed);
    expect(withUntriedPairFindings(passed.slice(0, 1), unseen)).toEqual(passed.slice(0, 1));
  });

  it("change nothing by requirement set 1.0", () => {
    const report = sampleReport([...withUntriedPairFindings(passed, unseen)], { verdict: "partial" });
    expect(narrowReport(report, "1.0").verdict).toBe("conformant");
  });
});

describe("unseen pairs", () => {
  const coverage = { uncovered: unseen, seen: { of: "", bits: "" } } as unknown as PairCoverage;

  it("are those that a run was to cover", () => {
    expect(untriedPairs(coverage, undefined)).toEqual(unseen);
  });

  it.each<[string, PairCoverage | null, Selection | undefined]>([
    ["a selection", coverage, { only: ["AUTH-3"], skip: [] }],
    ["evidence of earlier versions", { ...coverage, seen: undefined } as unknown as PairCoverage, undefined],
    ["a run without generated requests", null, undefined],
  ])("do not exist with %s", (_, given, selection) => {
    expect(untriedPairs(given, selection)).toEqual([]);
  });
});
