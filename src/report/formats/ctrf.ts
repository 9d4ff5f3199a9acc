import type { Report, ReportDocument, ReportFinding } from "../model/report.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import {
  breachLine,
  breachLines,
  findingName,
  type FindingView,
  findingViewOf,
  sentenceOf,
  skipLine,
  targetCase,
  targetSuite,
} from "./finding-text.ts";
import { type FailurePolicy, defaultPolicy, type TestStatus, testStatusesOf } from "../model/test-status.ts";
import { whyNothingJudged } from "../model/verdict.ts";
import { findingMs } from "./timing.ts";

/** `other`: the harness itself failed there. */
type Status = "passed" | "failed" | "skipped" | "other";

interface CtrfTest {
  readonly name: string;
  readonly status: Status;
  /** Milliseconds, whole. */
  readonly duration: number;
  readonly suite: readonly string[];
  readonly rawStatus: string;
  readonly tags: readonly string[];
  readonly message?: string;
  readonly trace?: string;
  readonly extra: Readonly<Record<string, string>>;
}

const statuses: Readonly<Record<TestStatus["kind"], Status>> = {
  failed: "failed",
  known: "skipped",
  "harness failed": "other",
  skipped: "skipped",
  passed: "passed",
};

/** A report in the Common Test Report Format (ctrf.io): a test for each finding. Ends with a line feed. */
export function renderCtrf(document: ReportDocument, rules: FailurePolicy = defaultPolicy): string {
  const { report } = document;
  const view = findingViewOf(document);
  const standings = testStatusesOf(report.findings, rules);
  const unjudged = whyNothingJudged(report);
  const tests = [
    ...(unjudged === null ? [] : [unjudgedTest(unjudged, report)]),
    ...report.findings.map((finding) => testOf(finding, standings.of(finding), view)),
    ...standings.stale.map(staleTest),
  ];
  const countOf = (status: Status): number => tests.filter((test) => test.status === status).length;
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
      extra: { verdict: report.verdict, clauses: report.suite.clauses, fingerprint: report.target.fingerprint },
    },
  };
  return `${JSON.stringify(ctrf, null, 2)}\n`;
}

function testOf(finding: ReportFinding, standing: TestStatus, view: FindingView): CtrfTest {
  const { check, clause, level, instance, reading } = finding;
  return {
    name: sanitizeLine([findingName(finding), sentenceOf(finding)].filter((part) => part !== "").join(" "), 400),
    status: statuses[standing.kind],
    duration: Math.round(findingMs(finding, view.exchanges)),
    suite: [sanitizeLine(finding.suite)],
    rawStatus: finding.outcome,
    tags: [sanitizeLine(clause), level],
    ...said(finding, standing, view),
    extra: {
      check: sanitizeLine(check),
      clause: sanitizeLine(clause),
      level,
      ...(instance === undefined ? {} : { instance: sanitizeLine(instance) }),
      ...(reading === undefined ? {} : { reading: sanitizeLine(reading) }),
    },
  };
}

function said(finding: ReportFinding, standing: TestStatus, view: FindingView): Pick<CtrfTest, "message" | "trace"> {
  switch (finding.outcome) {
    case "pass":
      return {};
    case "observed":
    case "error":
      return { message: sanitizeLine(finding.reason ?? "", 2000) };
    case "skipped":
      return { message: skipLine(finding, 1000) };
    case "fail":
    case "warning":
    case "note": {
      const known = standing.kind === "known" ? `known failure (${sanitizeLine(standing.reason)}): ` : "";
      return { message: known + breachLine(finding, 600), trace: breachLines(finding, view).join("\n") };
    }
  }
}

function unjudgedTest(sentence: string, { verdict, durationMs }: Report): CtrfTest {
  return {
    name: targetCase,
    status: "failed",
    duration: durationMs,
    suite: [targetSuite],
    rawStatus: verdict,
    tags: ["target"],
    message: sanitizeLine(sentence, 2000),
    extra: {},
  };
}

function staleTest({
  check,
  instance,
  reason,
}: {
  check: string;
  instance?: string | undefined;
  reason: string;
}): CtrfTest {
  return {
    name: `baseline: ${sanitizeLine(instance === undefined ? check : `${check} (${instance})`)}`,
    status: "failed",
    duration: 0,
    suite: ["Baseline"],
    rawStatus: "stale",
    tags: ["baseline"],
    message: `No longer fails: take it out of the baseline. It was known as: ${sanitizeLine(reason)}`,
    extra: { check: sanitizeLine(check) },
  };
}
