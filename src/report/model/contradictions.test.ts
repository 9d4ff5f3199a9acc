import { describe, expect, it } from "vitest";

import { sampleFinding, sampleLoadRun, sampleReport } from "../testing/sample.ts";
import { contradictionInReport } from "./report-file.ts";
import type { Report } from "./report.ts";
import { totalsOf, verdictOf } from "./verdict.ts";

const pass = sampleFinding({ clause: "A-1", level: "must", outcome: "pass" });
const fail = sampleFinding({ clause: "A-2", level: "must", outcome: "fail" });
const skipped = sampleFinding({ clause: "A-3", level: "must", outcome: "skipped" });

function reportOf(findings: Report["findings"], changes: Partial<Report> = {}): Report {
  const { stopped = null, unselected = [] } = changes;
  const verdict = verdictOf(findings, stopped, unselected);
  return { ...sampleReport(findings), totals: totalsOf(findings), unselected, verdict, ...changes };
}

const invalid = { invalid: "too few requests", counts: null, pace: null };

describe("a report", () => {
  it.each<[string, Report, string | null]>([
    ["that agrees with itself", reportOf([pass, fail, skipped]), null],
    ["that was stopped", reportOf([pass], { stopped: "interrupted" }), null],
    ["of a target that was not reached", reportOf([], { verdict: "unreachable", stopped: "refused" }), null],
    [
      "with other totals",
      reportOf([pass, fail], { totals: totalsOf([pass, pass]) }),
      "its totals say pass: 2, and its findings have 1",
    ],
    [
      "that hides a broken clause",
      reportOf([pass, fail], { verdict: "conformant" }),
      "its verdict is conformant, and from its findings follows nonconformant",
    ],
    [
      "that hides a clause that was not exercised",
      reportOf([pass, skipped], { verdict: "conformant" }),
      "its verdict is conformant, and from its findings follows partial",
    ],
    [
      "that hides that it was stopped",
      reportOf([pass], { stopped: "interrupted", verdict: "conformant" }),
      "its verdict is conformant, and from its findings follows incomplete",
    ],
    [
      "that hides that a rate limit was not tested",
      reportOf([pass], { limits: [{ tier: "free", window: "minute", kind: "kept" }] }),
      "what it says about rate limits does not follow from its findings",
    ],
    [
      "of load that hides that a run was invalid",
      reportOf([pass], { load: { runs: [sampleLoadRun({ validity: invalid })] } }),
      "its verdict is conformant, and from its findings follows partial",
    ],
    [
      "of a target that was not reached and yet broke a clause",
      reportOf([fail], { verdict: "unreachable", stopped: "refused" }),
      "its verdict is unreachable, and its findings have 1 of a broken clause",
    ],
  ])("%s", (_, report, contradiction) => {
    expect(contradictionInReport(report)).toBe(contradiction);
  });
});
