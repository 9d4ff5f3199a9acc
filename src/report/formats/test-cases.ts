import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import type { FailurePolicy, KnownFailure, TestStatus } from "../model/failure-policy.ts";
import { testStatusesOf } from "../model/failure-policy.ts";
import type { Outcome, ReportDocument, ReportFinding, Verdict } from "../model/report.ts";
import { whyNothingJudged } from "../model/verdict.ts";
import {
  failureDetails,
  findingMs,
  findingName,
  findingTitle,
  formatBreach,
  formatSkip,
  formatUpcoming,
  harnessFailedText,
  plainTextContext,
} from "./finding-text.ts";
import type { FailureContext } from "../terminal/failures.ts";

/**
 * A test case for the formats that list tests. It is a finding, a target that could not be judged, or a stale entry: a
 * known failure of the baseline that no longer fails.
 */
export interface TestCase {
  readonly suite: string;
  readonly title: string;
  readonly ms: number;
  readonly status: "passed" | "failed" | "skipped" | "harness failed";
  /** The value from which the status follows: the outcome, the verdict, `stale` or `upcoming`. */
  readonly rawStatus: Outcome | Verdict | "stale" | "upcoming";
  /** The kind of failure: the level of the clause, `harness`, `baseline`, or a verdict. */
  readonly type: string;
  /** One line; empty for a plain pass. */
  readonly message: string;
  /** Further lines, such as the evidence; empty if the message says everything. */
  readonly details: readonly string[];
  /** `null` for a stale entry of the baseline, and for a target that could not be judged. */
  readonly finding: ReportFinding | null;
}

/** The test cases of a report. A target that could not be judged is a failing case, so that a pipeline does not take it for success. */
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
    ...wordsOf(finding, status, context),
    finding,
  };
}

/** A check that belongs only to a later requirement set counts as skipped, whatever its result. */
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

function wordsOf(
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
