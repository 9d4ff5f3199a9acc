import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { type FailurePolicy, type KnownFailure, type TestStatus, testStatusesOf } from "../model/failure-policy.ts";
import type { Outcome, ReportDocument, ReportFinding, Verdict } from "../model/report.ts";
import { whyNothingJudged } from "../model/verdict.ts";
import {
  failureDetails,
  findingMs,
  findingTitle,
  formatBreach,
  formatSkip,
  formatUpcoming,
  harnessFailedText,
  plainTextContext,
} from "./finding-text.ts";
import { findingName } from "../model/finding-text.ts";
import type { FailureContext } from "../terminal/failure-lines.ts";

/**
 * A test case, for formats that list tests. It stands for a finding, for a target that could not be judged, or for a known failure that
 * no longer occurs (`stale`).
 */
export interface TestCase {
  readonly suite: string;
  readonly title: string;
  readonly ms: number;
  readonly status: "passed" | "failed" | "skipped" | "harness failed";
  /** The cause of the status: an outcome, a verdict, `stale` or `upcoming`. */
  readonly rawStatus: Outcome | Verdict | "stale" | "upcoming";
  /** The kind of failure: the level of a clause, `harness`, `baseline`, or a verdict. */
  readonly type: string;
  /** A message on one line; empty for a plain pass. */
  readonly message: string;
  /** Further lines, such as the evidence. Empty if `message` says everything. */
  readonly details: readonly string[];
  /** The finding of the test case. `null` for a known failure that no longer occurs, and for a target that could not be judged. */
  readonly finding: ReportFinding | null;
}

/**
 * Returns the test cases of a report. A target that could not be judged becomes a failed test case, so that a pipeline does not take it
 * for success.
 */
export function testCasesOf(document: ReportDocument, policy: FailurePolicy): TestCase[] {
  const { report } = document;
  const context = plainTextContext(document);
  const { of: statusOf, stale } = testStatusesOf(report.findings, policy);
  const notJudged = whyNothingJudged(report);
  return [
    ...(notJudged === null ? [] : [notJudgedCase(notJudged, report)]),
    ...report.findings.map((finding) => findingCase(finding, statusOf(finding), context)),
    ...report.upcoming.map((finding) => upcomingCase(finding, context)),
    ...stale.map(staleCase),
  ];
}

function findingCase(finding: ReportFinding, status: TestStatus, context: FailureContext): TestCase {
  const { suite, outcome, level } = finding;
  return {
    suite,
    title: findingTitle(finding),
    ms: findingMs(finding, context),
    status: status.kind === "known" ? "skipped" : status.kind,
    rawStatus: outcome,
    type: status.kind === "harness failed" ? "harness" : level,
    ...messageAndDetails(finding, status, context),
    finding,
  };
}

/** Returns the test case of a finding that only a later requirement set has. It counts as skipped, whatever its result. */
const upcomingCase = (finding: ReportFinding, context: FailureContext): TestCase => ({
  suite: finding.suite,
  title: findingTitle(finding),
  ms: findingMs(finding, context),
  status: "skipped",
  rawStatus: "upcoming",
  type: finding.level,
  message: formatUpcoming(finding),
  details: [],
  finding,
});

function messageAndDetails(
  finding: ReportFinding,
  status: TestStatus,
  context: FailureContext,
): Pick<TestCase, "message" | "details"> {
  const { outcome, reason = "", reading } = finding;
  switch (status.kind) {
    case "failed":
      return { message: formatBreach(finding, 600), details: failureDetails(finding, context) };
    case "harness failed":
      return { message: sanitizeLine(reason, 2000), details: [`${harnessFailedText}.`] };
    case "skipped":
      return { message: formatSkip(finding, 1000), details: [] };
    case "known":
      return { message: `known failure: ${sanitizeLine(status.reason)}`, details: failureDetails(finding, context) };
    case "passed":
      if (outcome === "warning" || outcome === "note")
        return { message: formatBreach(finding, 600), details: [outcome, ...failureDetails(finding, context)] };
      return {
        message: outcome === "observed" ? sanitizeLine(reason, 2000) : "",
        details: [
          ...(outcome === "observed" ? [`observed  ${sanitizeLine(reason, 2000)}`] : []),
          ...(reading === undefined ? [] : [`reading  ${sanitizeLine(reading)}`]),
        ],
      };
  }
}

const notJudgedCase = (reason: string, { verdict, durationMs }: ReportDocument["report"]): TestCase => ({
  suite: "Target",
  title: "the target can be judged",
  ms: durationMs,
  status: "harness failed",
  rawStatus: verdict,
  type: verdict,
  message: sanitizeLine(reason, 2000),
  details: [sanitize(reason)],
  finding: null,
});

const staleCase = ({ check, instance, reason }: KnownFailure): TestCase => ({
  suite: "Baseline",
  title: findingName(instance === undefined ? { check } : { check, instance }),
  ms: 0,
  status: "failed",
  rawStatus: "stale",
  type: "baseline",
  message: "No longer fails: remove it from the baseline.",
  details: [`known as: ${sanitize(reason)}`],
  finding: null,
});
