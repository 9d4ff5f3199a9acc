import { sanitizeLine } from "../../base/sanitize.ts";
import { defaultPolicy, type FailurePolicy } from "../model/failure-policy.ts";
import type { ReportFinding } from "../model/finding.ts";
import type { ReportDocument } from "../model/report.ts";
import { type TestCase, testCasesOf } from "./test-cases.ts";

type CtrfStatus = "passed" | "failed" | "skipped" | "other";

/** Renders a report in the Common Test Report Format (ctrf.io). Each finding or stale baseline entry becomes a test. */
export function renderCtrf(document: ReportDocument, policy: FailurePolicy = defaultPolicy): string {
  const { report } = document;
  const tests = testCasesOf(document, policy).map(ctrfTest);
  const countOf = (status: CtrfStatus): number => tests.filter((test) => test.status === status).length;
  const [start, stop] = [Date.parse(report.started), Date.parse(report.finished)];
  const ctrf = {
    reportFormat: "CTRF",
    specVersion: "0.0.0",
    timestamp: report.finished,
    generatedBy: "agent-hosting-conformance",
    results: {
      tool: { name: "agent-hosting-conformance", version: report.suite.version },
      summary: {
        tests: tests.length,
        passed: countOf("passed"),
        failed: countOf("failed"),
        skipped: countOf("skipped"),
        pending: 0,
        other: countOf("other"),
        suites: new Set(tests.map(({ suite }) => suite[0])).size,
        start,
        stop,
        duration: Math.max(0, stop - start),
      },
      tests,
      environment: { appName: sanitizeLine(report.target.name), testEnvironment: sanitizeLine(report.target.baseUrl) },
      extra: {
        verdict: report.verdict,
        requirements: sanitizeLine(report.suite.requirements),
        clauses: report.suite.clauses,
        fingerprint: report.target.fingerprint,
      },
    },
  };
  return `${JSON.stringify(ctrf, null, 2)}\n`;
}

function ctrfTest({ suite, title, ms, status, rawStatus, type, message, details, finding }: TestCase) {
  const isBroken = rawStatus === "fail" || rawStatus === "warning" || rawStatus === "note";
  // If the harness failed at one check, the test's status is `other`. If nothing was judged, there is no finding, and the
  // status is `failed`.
  const testStatus: CtrfStatus = status !== "harness failed" ? status : finding === null ? "failed" : "other";
  return {
    name: rawStatus === "stale" ? `baseline: ${title}` : title,
    status: testStatus,
    duration: Math.round(ms),
    suite: [sanitizeLine(suite)],
    rawStatus,
    tags: finding === null ? [type] : [sanitizeLine(finding.clause), finding.level],
    ...(message === "" ? {} : { message: rawStatus === "stale" ? `${message} ${details.join("\n")}` : message }),
    ...(isBroken ? { trace: details.join("\n") } : {}),
    extra: finding === null ? {} : ctrfExtra(finding),
  };
}

const ctrfExtra = ({ check, clause, level, instance, reading }: ReportFinding): Record<string, string> => ({
  check: sanitizeLine(check),
  clause: sanitizeLine(clause),
  level,
  ...(instance === undefined ? {} : { instance: sanitizeLine(instance) }),
  ...(reading === undefined ? {} : { reading: sanitizeLine(reading) }),
});
