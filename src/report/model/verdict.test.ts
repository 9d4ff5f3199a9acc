import { describe, expect, it } from "vitest";

import type { Outcome, ReportFinding } from "./finding.ts";
import { formatText } from "../terminal/section-lines.ts";
import { verdictReasons } from "./verdict-summary.ts";
import { sampleFinding, sampleReport } from "../testing/sample.ts";
import { clauseOutcomes, exitCodeOf, runExitCode, totalsOf, unexercisedMusts, verdictOf } from "./verdict.ts";

const levelOf = { warning: "should", note: "advisory", observed: "gap" } as const;

/** Creates findings from texts of the form `CLAUSE outcome`. */
const rows = (...written: readonly string[]): ReportFinding[] =>
  written.map((row) => {
    const [clause = "", outcome = ""] = row.split(" ");
    const level = Object.hasOwn(levelOf, outcome) ? levelOf[outcome as keyof typeof levelOf] : "must";
    return sampleFinding({ clause, level, outcome: outcome as Outcome });
  });

const table = [
  { name: "all passes", findings: rows("A-1 pass", "A-2 observed"), verdict: "conformant", exit: [0, 0, 0] },
  { name: "a must is broken", findings: rows("A-1 pass", "A-2 fail"), verdict: "nonconformant", exit: [1, 1, 1] },
  { name: "a should is broken", findings: rows("A-1 pass", "A-2 warning"), verdict: "conformant", exit: [0, 1, 0] },
  { name: "an advisory is broken", findings: rows("A-1 pass", "A-2 note"), verdict: "conformant", exit: [0, 0, 0] },
  { name: "a must was skipped", findings: rows("A-1 pass", "A-2 skipped"), verdict: "partial", exit: [0, 0, 1] },
  {
    name: "a must was skipped in one instance and passed in another",
    findings: rows("A-1 pass", "A-1 skipped"),
    verdict: "conformant",
    exit: [0, 0, 0],
  },
  { name: "all was skipped", findings: rows("A-1 skipped"), verdict: "partial", exit: [3, 3, 3] },
  { name: "nothing was selected", findings: [], verdict: "partial", exit: [3, 3, 3] },
  { name: "the harness failed", findings: rows("A-1 pass", "A-2 error"), verdict: "partial", exit: [4, 4, 4] },
  { name: "the harness failed at all", findings: rows("A-1 error"), verdict: "partial", exit: [4, 4, 4] },
  {
    name: "the harness failed and a must is broken",
    findings: rows("A-1 fail", "A-2 error"),
    verdict: "nonconformant",
    exit: [1, 1, 1],
  },
];

describe("the verdict and the exit code", () => {
  it.each(table)("when $name: $verdict", ({ findings, verdict, exit }) => {
    const code = (strict: boolean, complete: boolean): number =>
      exitCodeOf({ findings, unselected: [] }, { strict, complete });
    expect(verdictOf(findings, null)).toBe(verdict);
    expect([code(false, false), code(true, false), code(false, true)]).toEqual(exit);
  });

  it("ignores a must clause that does not concern the target", () => {
    const findings = [...rows("A-1 pass"), ...rows("A-2 skipped").map((row) => ({ ...row, exempt: true as const }))];
    expect(verdictOf(findings, null)).toBe("conformant");
    expect(exitCodeOf({ findings, unselected: [] }, { strict: false, complete: true })).toBe(0);
  });

  it("is partial, and incomplete for --complete, when a must clause was not selected", () => {
    const findings = rows("A-1 pass");
    expect(verdictOf(findings, null, ["A-2"])).toBe("partial");
    expect(exitCodeOf({ findings, unselected: ["A-2"] }, { strict: false, complete: false })).toBe(0);
    expect(exitCodeOf({ findings, unselected: ["A-2"] }, { strict: false, complete: true })).toBe(1);
  });

  it("is incomplete when the run was stopped, unless something was broken by then", () => {
    expect(verdictOf(rows("A-1 pass"), "interrupted")).toBe("incomplete");
    expect(verdictOf(rows("A-1 fail"), "interrupted")).toBe("nonconformant");
  });

  it("does not require that a should clause is exercised", () => {
    const findings = [...rows("A-1 pass"), sampleFinding({ clause: "A-2", level: "should", outcome: "skipped" })];
    expect(unexercisedMusts(findings)).toEqual([]);
    expect(verdictOf(findings, null)).toBe("conformant");
  });
});

describe("the exit code of a run that names clauses", () => {
  const skipped = (level: ReportFinding["level"], clause = "A-2", check = clause): ReportFinding =>
    sampleFinding({ clause, check, level, outcome: "skipped", reason: "no agent fails" });
  const passed = sampleFinding({ clause: "A-1", check: "A-1", level: "must", outcome: "pass" });

  it.each<[string, readonly string[], readonly ReportFinding[], number]>([
    ["a must clause by its id", ["A-1", "A-2"], [passed, skipped("must")], 3],
    ["a should clause by its id", ["A-1", "a-2"], [passed, skipped("should")], 3],
    ["a check by its id", ["A-1/late"], [passed, skipped("must", "A-1", "A-1/late")], 3],
    ["a gap", ["A-1", "A-2"], [passed, skipped("gap")], 0],
    ["a glob", ["A-*"], [passed, skipped("must")], 0],
    ["a clause of which another check was exercised", ["A-1"], [passed, skipped("must", "A-1", "A-1/late")], 0],
    ["a clause that was deselected again", ["A-1", "A-2"], [passed], 0],
    [
      "a clause, while another is broken",
      ["A-1", "A-2"],
      [sampleFinding({ clause: "A-1", level: "must", outcome: "fail" }), skipped("must")],
      1,
    ],
  ])("%s that was not exercised", (_, only, findings, code) => {
    const report = { ...sampleReport([...findings]), selection: { only: [...only], skip: [] } };
    expect(runExitCode(report)).toBe(code);
    const named = formatText(verdictReasons(report)).includes("named but not exercised");
    expect(named).toBe(code === 3 || code === 1);
  });
});

describe("counts", () => {
  it("count rows by outcome", () => {
    expect(totalsOf(rows("A-1 pass", "A-2 pass", "A-3 fail"))).toEqual({
      pass: 2,
      fail: 1,
      warning: 0,
      note: 0,
      observed: 0,
      skipped: 0,
      error: 0,
    });
  });

  it("give a clause its worst outcome", () => {
    const findings = rows("A-1 pass", "A-1 fail", "A-1 error", "A-2 skipped", "A-2 pass", "A-3 skipped");
    expect(Object.fromEntries(clauseOutcomes(findings))).toEqual({ "A-1": "fail", "A-2": "pass", "A-3": "skipped" });
  });
});

describe("the last line of a report", () => {
  it.each([
    ["counts lost requests", 2, true],
    ["does not mention losses if there are none", 0, false],
  ])("%s", (_, lost, isMentioned) => {
    const line = formatText(verdictReasons({ ...sampleReport([]), lost }));
    expect(line.includes(", 2 requests lost on the network and sent again")).toBe(isMentioned);
  });
});
