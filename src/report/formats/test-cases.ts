import { sinceOf } from "../model/requirements.ts";
import { createPaint } from "../../base/paint.ts";
import { sanitizeLine, sanitize } from "../../base/sanitize.ts";
import { breachText, clauseSentence, findingName } from "../model/finding-text.ts";
import { trialInstance } from "../model/load-results.ts";
import { isBroken, type ReportDocument, type ReportFinding, type Outcome, type Verdict } from "../model/report.ts";
import { evidenceContextOf } from "../reproduce/finding-evidence.ts";
import { formatText } from "../terminal/section-lines.ts";
import { evidenceLines, type FailureContext, findingLines } from "../terminal/failure-lines.ts";
import { type FailurePolicy, type KnownFailure, type TestStatus, testStatusesOf } from "../model/failure-policy.ts";
import { whyNothingJudged } from "../model/verdict.ts";

/** A test case: a finding, a target that was not judged, or a known failure that no longer occurs (`stale`). */
export interface TestCase {
  readonly suite: string;
  readonly title: string;
  readonly ms: number;
  readonly status: "passed" | "failed" | "skipped" | "harness failed";
  /** The cause of the status: an outcome, a verdict, `stale` or `upcoming`. */
  readonly rawStatus: Outcome | Verdict | "stale" | "upcoming";
  /** The kind of failure: the level of a clause, `harness`, `baseline`, or a verdict. */
  readonly type: string;
  /** One line on the result. Empty if the test passed and has nothing to report. */
  readonly message: string;
  /** Further lines, such as the evidence. Empty if `message` says everything. */
  readonly details: readonly string[];
  /** `null` for a known failure that no longer occurs, and for a target that could not be judged. */
  readonly finding: ReportFinding | null;
}

/** Returns the test cases of a report. A target that was not judged counts as a failed case. */
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

/** Returns the test case of a finding that only a later requirement set has. It counts as skipped. */
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

/** Returns settings that format evidence as plain text, without colours or wrapped lines. */
export const plainTextContext = (document: ReportDocument): FailureContext => ({
  ...evidenceContextOf(document),
  width: Number.POSITIVE_INFINITY,
  paint: createPaint(false),
});

/** The title of a finding in formats that list tests: its name, and the sentence of its clause. */
export const findingTitle = (finding: ReportFinding): string =>
  sanitizeLine(`${findingName(finding)} ${clauseSentence(finding.clause)}`, 400);

/** Formats what was expected and what happened, for a broken finding, on one line. */
export const formatBreach = (finding: ReportFinding, max = 200): string => formatText(breachText(finding, max));

/** Says why a check was skipped and what would enable it, on one line. */
export function formatSkip({ reason = "", needs }: ReportFinding, max = 300): string {
  const why = sanitizeLine(reason, max);
  return needs === undefined ? why : `${why}${why === "" ? "" : "; "}enabled by ${sanitizeLine(needs, max)}`;
}

/** Formats the result of a check that does not count yet, with the requirement set from which on it counts. */
export function formatUpcoming(finding: ReportFinding, max = 300): string {
  const { outcome, reason = "" } = finding;
  const found = isBroken(finding) ? formatBreach(finding, max) : sanitizeLine(reason, max);
  return `upcoming, counts from requirement set ${sanitizeLine(sinceOf(finding), 40)}: ${outcome}${found === "" ? "" : `, ${found}`}`;
}

/** Returns the details of a failure as lines of plain text: expected, actual, tier and evidence. */
export function failureDetails(finding: ReportFinding, context: FailureContext): string[] {
  const { instance, load } = finding;
  const instances = load === undefined ? (instance ?? []) : trialInstance(load);
  return [...findingLines({ finding, instances: [instances].flat() }, context), ...evidenceLines(finding, context)];
}

/** Total duration of a finding's exchanges, in milliseconds. Findings may share exchanges. */
export function findingMs({ evidence = [] }: ReportFinding, { recorded }: FailureContext): number {
  const { exchanges } = recorded();
  return evidence.reduce((sum, id) => {
    const exchange = exchanges.get(id);
    return exchange === undefined ? sum : sum + Math.max(0, exchange.answer.endMs - exchange.sentMs);
  }, 0);
}

export const harnessFailedText = "The harness itself failed; this is not the target's fault";
