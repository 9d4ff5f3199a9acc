import { sinceOf } from "../model/requirements.ts";
import { createPaint } from "../../base/text.ts";
import { sanitizeLine, sanitize } from "../../base/sanitize.ts";
import { breachText, clauseSentence, findingName } from "../model/finding-text.ts";
import { formatTierAndEngine } from "../model/load-results.ts";
import { isBroken, type ReportFinding, type Outcome } from "../model/finding.ts";
import type { ReportDocument, Verdict } from "../model/report.ts";
import { evidenceContextOf } from "../reproduce/finding-evidence.ts";
import { formatText } from "../terminal/section-lines.ts";
import { evidenceLines, type FailureContext, findingLines } from "../terminal/failure-lines.ts";
import { type FailurePolicy, type KnownFailure, type TestStatus, testStatusesOf } from "../model/failure-policy.ts";
import { whyNothingJudged } from "../model/verdict.ts";

export interface TestCase {
  readonly suite: string;
  readonly title: string;
  readonly ms: number;
  readonly status: "passed" | "failed" | "skipped" | "harness failed";
  readonly rawStatus: Outcome | Verdict | "stale" | "upcoming";
  readonly type: string;
  readonly message: string;
  readonly details: readonly string[];
  readonly finding: ReportFinding | null;
}

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

const upcomingCase = (finding: ReportFinding, context: FailureContext): TestCase => ({
  ...findingCase(finding, { kind: "skipped" }, context),
  rawStatus: "upcoming",
  message: formatUpcoming(finding),
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

export const plainTextContext = (document: ReportDocument): FailureContext => ({
  ...evidenceContextOf(document),
  width: Number.POSITIVE_INFINITY,
  paint: createPaint(false),
});

const findingTitle = (finding: ReportFinding): string =>
  sanitizeLine(`${findingName(finding)} ${clauseSentence(finding.clause)}`, 400);

export const formatBreach = (finding: ReportFinding, max = 200): string => formatText(breachText(finding, max));

export function formatSkip({ reason = "", needs }: ReportFinding, max = 300): string {
  const why = sanitizeLine(reason, max);
  return needs === undefined ? why : `${why}${why === "" ? "" : "; "}enabled by ${sanitizeLine(needs, max)}`;
}

export function formatUpcoming(finding: ReportFinding, max = 300): string {
  const { outcome, reason = "" } = finding;
  const found = isBroken(finding) ? formatBreach(finding, max) : sanitizeLine(reason, max);
  return `upcoming, counts from requirement set ${sanitizeLine(sinceOf(finding), 40)}: ${outcome}${found === "" ? "" : `, ${found}`}`;
}

function failureDetails(finding: ReportFinding, context: FailureContext): string[] {
  const { instance, load } = finding;
  const instances = load === undefined ? (instance ?? []) : formatTierAndEngine(load);
  return [...findingLines({ finding, instances: [instances].flat() }, context), ...evidenceLines(finding, context)];
}

/** Returns the total duration of a finding's exchanges. An exchange that belongs to two findings counts in both. */
function findingMs({ evidence = [] }: ReportFinding, { recorded }: FailureContext): number {
  const { exchanges } = recorded();
  return evidence.reduce((sum, id) => {
    const exchange = exchanges.get(id);
    return exchange === undefined ? sum : sum + Math.max(0, exchange.answer.endMs - exchange.sentMs);
  }, 0);
}

export const harnessFailedText = "The harness itself failed; this is not the target's fault";
