import { newestRequirements, type RequirementSet } from "../../spec/clause.ts";
import { scenarioNamed } from "../../load/scenarios.ts";
import type { TrialResult } from "../../load/run-trials.ts";
import type { LoadFinding, JudgeResult } from "../../load/judge/finding.ts";
import { evidenceOf, sample } from "../../load/testing/samples.ts";
import { readReport, serializeReport } from "../../report/model/report-file.ts";
import type { Report } from "../../report/model/report.ts";
import { runEndFromReason } from "../../report/model/verdict.ts";
import { assembleLoadReport } from "./load-report.ts";
import { evidenceFileOf } from "../../load/trials.ts";
import { describeInvalidTrials } from "../../report/model/load-results.ts";
import { loadExitCode } from "../../cli/report/present-report.ts";
import { describe, expect, it } from "vitest";

const scenario = scenarioNamed("minute-limit") ?? never();
function never(): never {
  throw new Error("no scenario minute-limit");
}
const trial = { scenario, tier: "free", engine: "k6" } as const;
const valid = { invalid: null, counts: null, pace: null };
const finding = (clause: string | null, says: JudgeResult, name = clause ?? "load/slow-refusals"): LoadFinding => ({
  check: `${name}/minute-limit`,
  clause,
  since: "1.0",
  instance: "free",
  ...says,
});
const passed: JudgeResult = { kind: "holds", detail: "10 admitted" };
const broken: JudgeResult = { kind: "breach", expected: "10", actual: "11", witness: ["one", "two"] };

const judged = (
  findings: readonly LoadFinding[],
  other: Partial<Extract<TrialResult, { kind: "judged" }>> = {},
): TrialResult => ({
  kind: "judged",
  trial,
  evidence: evidenceOf([sample(), sample({ status: 429 }), sample({ status: null })]),
  findings,
  validity: valid,
  ...other,
});

const reportOf = (
  outcomes: readonly TrialResult[],
  stopped: string | null = null,
  requirements: RequirementSet = newestRequirements,
): Report =>
  assembleLoadReport(outcomes, {
    requirements,
    target: { name: "Acme", baseUrl: "http://127.0.0.1:9/v1", tiers: { main: "free" } },
    started: new Date(0),
    finished: new Date(2000),
    waitedMs: 0,
    end: runEndFromReason(stopped),
    fileOf: evidenceFileOf,
  });

describe("a load report", () => {
  it("has findings with tier and engine as the instance, and matches its schema", () => {
    const report = reportOf([judged([finding("LIM-1", broken), finding("LIM-2", passed)])]);
    expect(report.findings).toEqual([
      {
        suite: "Load: minute-limit",
        instance: "free, k6",
        load: { scenario: "minute-limit", tier: "free", engine: "k6" },
        check: "LIM-1/minute-limit",
        clause: "LIM-1",
        level: "must",
        outcome: "fail",
        expected: "10",
        actual: "11",
        witness: ["one", "two"],
        evidence: ["load/minute-limit-free-k6.json"],
      },
      expect.objectContaining({ check: "LIM-2/minute-limit", outcome: "pass", reason: "10 admitted" }),
    ]);
    expect(readReport(serializeReport(report), "report.json")).toEqual(report);
  });

  it("counts requests by result", () => {
    const [run] = reportOf([judged([])]).load?.runs ?? [];
    expect(run?.requests).toEqual({ planned: 3, sent: 3, admitted: 1, refused: 1, failed: 0, unanswered: 1, left: 0 });
    expect(run?.latencyMs.admitted).toMatchObject({ count: 1, p50: 2 });
    expect(run?.perSecond).toEqual({ sent: 3, admitted: 1 });
  });

  it("names the must clauses that no chosen scenario tests, and is partial", () => {
    const report = reportOf([judged([finding("LIM-1", passed)])]);
    expect(report.unselected).toContain("HOOK-8");
    expect(report.unselected).not.toContain("LIM-1");
    expect(report.verdict).toBe("partial");
    expect(loadExitCode(report)).toBe(0);
  });

  it("fails for an unmet load demand without calling the target nonconformant", () => {
    const report = reportOf([judged([finding("LIM-1", passed), finding(null, broken)])]);
    expect(report.findings[1]).toMatchObject({ clause: "load/slow-refusals", level: "load", outcome: "fail" });
    expect(report.verdict).toBe("partial");
    expect(loadExitCode(report)).toBe(1);
  });

  it("does not count a check of a later requirement set", () => {
    const later = { ...finding("LIM-2", broken), since: "1.1" } as const;
    const by = (requirements: "1.0" | "1.1") =>
      reportOf([judged([finding("LIM-1", passed), later])], null, requirements);
    expect(by("1.1")).toMatchObject({ verdict: "nonconformant", upcoming: [] });
    expect(by("1.0")).toMatchObject({
      verdict: "partial",
      upcoming: [{ check: "LIM-2/minute-limit", outcome: "fail" }],
    });
    expect(loadExitCode(by("1.0"))).toBe(0);
  });

  it("skips the claims of trials that were not sent, with what they need", () => {
    const report = reportOf([{ kind: "skipped", trial, reason: "there is no k6", needs: "install it" }]);
    expect(report.findings).toHaveLength(scenario.claims.length);
    expect(report.findings.every(({ outcome, needs }) => outcome === "skipped" && needs === "install it")).toBe(true);
    expect(loadExitCode(report)).toBe(3);
  });

  it("reports a failure of the harness as an error", () => {
    const report = reportOf([{ kind: "broken", trial, error: "TypeError", evidence: null }]);
    expect(report.findings).toMatchObject([{ outcome: "error", reason: "TypeError" }]);
    expect(loadExitCode(report)).toBe(4);
  });

  it("is incomplete if it was stopped and nothing was broken", () => {
    expect(reportOf([judged([finding("LIM-1", passed)])], "interrupted").verdict).toBe("incomplete");
    expect(reportOf([judged([finding("LIM-1", broken)])], "interrupted").verdict).toBe("nonconformant");
  });

  it("is partial if the generator was the bottleneck, unless something was broken", () => {
    const validity = { ...valid, invalid: "the load generator could not start 3 of its requests" };
    const report = reportOf([judged([finding("LIM-1", passed)], { validity })]);
    expect(loadExitCode(report)).toBe(3);
    expect(describeInvalidTrials(report)).toMatch(
      /^Invalid, .*minute-limit \(free, k6\): the load generator could not start 3/,
    );
    expect(loadExitCode(reportOf([judged([finding("LIM-1", broken)], { validity })]))).toBe(1);
  });

  it("lists the webhook that it left on the target", () => {
    const deliveries = { received: 1, badSignatures: 0, distinctRequests: 1, duplicates: 0 };
    expect(reportOf([judged([], { evidence: evidenceOf([], { deliveries }) })]).created).toMatchObject([
      { kind: "webhook", key: "main", exchange: "load/minute-limit-free-k6.json" },
    ]);
  });
});
