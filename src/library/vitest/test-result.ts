import { type Baseline, applyBaseline } from "../../report/model/failure-policy.ts";
import { groupByClause } from "../../report/model/broken-clauses.ts";
import { failureLines } from "../../report/terminal/failure-lines.ts";
import { checkIdWithoutSet } from "../../report/model/requirements.ts";
import { formatUpcoming, plainTextContext } from "../../report/formats/test-cases.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { ReportFinding } from "../../report/model/finding.ts";
import type { Judged } from "../judge.ts";

type TestResult =
  | { readonly kind: "failed"; readonly message: string }
  | { readonly kind: "skipped"; readonly reason: string }
  /** `notes`: texts of warnings, notes and observations, which do not fail the test. */
  | { readonly kind: "passed"; readonly notes: readonly string[] };

export interface TestRules {
  readonly strict: boolean;
  readonly baseline: Baseline;
}

/** Combines all findings of a check, such as one for each tier, into one result for its test. */
export function testResultOf(check: string, judged: Judged, { strict, baseline }: TestRules): TestResult {
  const rows = judged.document.report.findings.filter((finding) => finding.check === check);
  const { excused, stale } = applyBaseline(
    rows,
    baseline.filter((entry) => entry.check === check),
  );
  const [outdated] = stale;
  if (outdated !== undefined)
    return failedResult(`Stale baseline: ${check} no longer fails (${outdated.reason}). Take it out.`);
  const open = rows.filter((row) => !excused.includes(row));
  const broken = open.filter(({ outcome }) => outcome === "fail" || (strict && outcome === "warning"));
  if (broken.length > 0) return failedResult(formatBrokenFindings(broken, judged));
  const error = open.find(({ outcome }) => outcome === "error");
  if (error !== undefined)
    return failedResult(
      `The harness itself failed; this is not the target's fault: ${sanitizeLine(error.reason ?? "", 300)}`,
    );
  const [upcoming] = judged.document.report.upcoming.filter((finding) => finding.check === check);
  if (rows.length === 0) return resultWithoutFinding(check, judged, upcoming);
  if (excused.length > 0) return { kind: "skipped", reason: `known to fail: ${baselineReason(check, baseline)}` };
  const exercised = open.filter(({ outcome }) => outcome !== "skipped");
  if (exercised.length === 0) return { kind: "skipped", reason: whySkipped(open) };
  return { kind: "passed", notes: exercised.flatMap(testNotes) };
}

/**
 * Returns the result of a check without a finding. A check of a later requirement set (`upcoming`) is skipped. A check
 * such as `INV-3/in requests of 1.1`, which judges only requests that set 1.1 added, passes if `INV-3` has a finding.
 */
function resultWithoutFinding(check: string, judged: Judged, upcoming: ReportFinding | undefined): TestResult {
  if (upcoming !== undefined) return { kind: "skipped", reason: formatUpcoming(upcoming) };
  const earlier = checkIdWithoutSet(check);
  return earlier !== null && judged.document.report.findings.some((finding) => finding.check === earlier)
    ? { kind: "passed", notes: [`no case beyond those of ${earlier}`] }
    : { kind: "skipped", reason: "the run has no row of this check" };
}

const failedResult = (message: string): TestResult => ({ kind: "failed", message });

const baselineReason = (check: string, baseline: Baseline): string =>
  baseline.find((entry) => entry.check === check)?.reason ?? "";

function whySkipped([first]: readonly ReportFinding[]): string {
  const { reason = "", needs } = first ?? {};
  return sanitizeLine(needs === undefined ? reason : `${reason}; enabled by ${needs}`, 300);
}

function formatBrokenFindings(broken: readonly ReportFinding[], { document }: Judged): string {
  const context = plainTextContext(document);
  const groups = (["fail", "warning"] as const).flatMap((outcome) => groupByClause(broken, outcome));
  return groups.flatMap((group) => failureLines(group, context, new Map(), null)).join("\n");
}

function testNotes({ outcome, actual, expected, reason, instance }: ReportFinding): string[] {
  const where = instance === undefined ? "" : ` (${sanitizeLine(instance, 40)})`;
  if (outcome === "warning" || outcome === "note")
    return [
      `${outcome}: expected ${sanitizeLine(expected ?? "", 300)}; got ${sanitizeLine(actual ?? "", 300)}${where}`,
    ];
  if (outcome === "observed") return [`observed: ${sanitizeLine(reason ?? "", 600)}${where}`];
  return [];
}
