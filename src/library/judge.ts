import type { Evidence } from "../evidence/evidence.ts";
import type { ReportDocument } from "../report/document.ts";
import type { Report, Verdict } from "../report/report.ts";
import { judge as judgeTarget } from "../app/judge/judge.ts";
import { documentOf } from "../app/session/read-document.ts";
import { NothingToJudge } from "./problems.ts";
import { type JudgeScope, scopeOf } from "./scope.ts";
import { subjectOf, type TargetDescription } from "./target.ts";

/** Which part of the suites runs, and within which bounds; everything has a default. */
export interface JudgeOptions extends JudgeScope {
  /** Ends the run early; what was seen so far is judged, and the verdict is `incomplete` unless something was broken. */
  readonly signal?: AbortSignal;
}

/** What a run found. Keys and secrets are redacted in all of it. */
export interface Judged {
  readonly verdict: Verdict;
  readonly report: Report;
  /** What was sent and received; it keeps the secrets that the harness made up for webhooks, so that it can be judged again. */
  readonly evidence: Evidence;
  /** What every renderer takes: the same without those. */
  readonly document: ReportDocument;
}

/**
 * Runs the suites against a target, as `conformance run` does.
 *
 * @throws {UsageProblem} where the target or an option cannot be used; nothing was sent then.
 * @throws {NothingToJudge} where the target could not be reached, or is no deployment of this interface.
 */
export async function judge(target: TargetDescription, options: JudgeOptions = {}): Promise<Judged> {
  const { signal = new AbortController().signal } = options;
  const judged = await judgeTarget({ ...scopeOf(options), ...subjectOf(target), signal, events: {} });
  if (judged.kind === "nothing to judge") throw new NothingToJudge(judged.sentence);
  const { report, evidence } = judged;
  return { verdict: report.verdict, report, evidence, document: documentOf(report, evidence) };
}
