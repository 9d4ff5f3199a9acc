import { describe, expect, it } from "vitest";

import { renderTerminal, type TerminalOptions } from "./render-terminal.ts";
import type { ReportFinding } from "../model/finding.ts";
import type { Report } from "../model/report.ts";
import { sampleFinding, trialFields, sampleLoadRun as run, sampleReport } from "../testing/sample.ts";

const loadFinding = (other: Partial<ReportFinding>): ReportFinding =>
  sampleFinding({
    check: `${other.clause ?? "LIM-1"}/minute-limit`,
    clause: "LIM-1",
    ...trialFields("minute-limit", "pro", "k6"),
    evidence: ["load/minute-limit-pro-k6.json"],
    ...other,
  });
const broken = (other: Partial<ReportFinding> = {}): ReportFinding =>
  loadFinding({ outcome: "fail", expected: "at most 100", actual: "101", witness: ["serial#0 200"], ...other });

const shown = (report: Report, options: Partial<TerminalOptions> = {}): string =>
  renderTerminal(report, null, {
    colour: false,
    width: 120,
    quiet: false,
    folder: "reports/one",
    loadCommands: ({ scenario }) => [`again ${scenario}`],
    ...options,
  });

describe("a load report on the terminal", () => {
  it("has a row for each run, with admitted and refused apart", () => {
    const text = shown(sampleReport([loadFinding({ outcome: "pass" })], { load: { runs: [run()] } }));
    expect(text).toMatch(/minute-limit +pro +k6 +1,234 +1,234 +1,000 +230 +4 +1\.3\/40 +– +1 passed/);
    expect(text).toContain("hour fixed; minute fixed (minute-limit, pro, k6)");
    expect(text).toMatch(/\nconformant under load: 1 check of 1 clause passed, 1 load run, .*\n$/);
  });

  it("leaves out columns on a narrow terminal, but never the result", () => {
    const text = shown(sampleReport([], { load: { runs: [run()] } }), { width: 70 });
    expect(text).not.toContain("429 p50");
    expect(text).toContain("result");
    expect(
      Math.max(
        ...text
          .split("\n")
          .slice(0, 2)
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(80);
  });

  it("shows a broken clause with its witness and a command", () => {
    const report = sampleReport([broken()], { verdict: "nonconformant", load: { runs: [run()] } });
    const text = shown(report);
    for (const part of [
      "FAIL  LIM-1  must",
      "expected  at most 100",
      "actual    101",
      "under     minute-limit (pro, k6)",
      "all requests are in reports/one/load/minute-limit-pro-k6.json",
      "serial#0 200",
      "again minute-limit",
      "1 failed",
    ])
      expect(text).toContain(part);
    expect(text).toMatch(/\nnonconformant under load: 1 must clause broken \(LIM-1\), .*\n$/);
  });

  it("shows the beginning and the end of a long witness", () => {
    const witness = Array.from({ length: 20 }, (_, at) => `line ${at}`);
    const text = shown(sampleReport([broken({ witness })]));
    expect(text).toContain("line 0\n");
    expect(text).toContain("… 12 more");
    expect(text).toContain("line 19");
    expect(text).not.toContain("line 9\n");
  });

  it("distinguishes unmet load demands from broken clauses", () => {
    const report = sampleReport([broken({ clause: "load/slow-refusals", level: "load" })], { verdict: "partial" });
    const text = shown(report);
    expect(text).toContain("a load scenario demands it; the document does not state it");
    expect(text).toContain("1 load demand not met (load/slow-refusals)");
    expect(text).not.toContain("must clause broken");
  });

  it("says that an invalid run proves nothing", () => {
    const validity = { invalid: "the load generator could not start 3", counts: "x", pace: "x" };
    const text = shown(sampleReport([], { verdict: "partial", load: { runs: [run({ validity })] } }));
    expect(text).toContain("minute-limit, pro, k6: the run proves nothing: the load generator could not start 3");
    expect(text).toContain("1 invalid run");
  });

  it("escapes control characters of a target", () => {
    expect(shown(sampleReport([broken({ actual: "\u001b[31mred", witness: ["\u001b[2J"] })]))).not.toContain("\u001b");
  });

  it("has only a line for each broken clause and the verdict if quiet", () => {
    const report = sampleReport([broken()], { verdict: "nonconformant", load: { runs: [run()] } });
    expect(shown(report, { quiet: true }).trimEnd().split("\n")).toHaveLength(2);
  });
});
