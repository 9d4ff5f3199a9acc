import type { Evidence } from "../evidence/evidence.ts";
import type { ReportDocument, Report, Verdict } from "../report/model/report.ts";
import { judge as judgeTarget } from "../app/judge/judge.ts";
import { documentOf } from "../app/report-folder/read-document.ts";
import { NothingToJudge, UsageProblem } from "./errors.ts";
import { type JudgeScope, scopeOf } from "./scope.ts";
import { resolveTarget, type TargetDescription } from "./target.ts";
import { readSavedRun } from "../app/report-folder/saved-run.ts";
import { UseCaseError } from "../app/use-case-error.ts";
import { rejudgeRun } from "../app/rejudge.ts";
import { libraryMessages } from "./messages.ts";

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
  const judged = await judgeTarget({ ...scopeOf(options), ...resolveTarget(target), signal, events: {} });
  const { report, evidence } = judged;
  const document = documentOf(report, evidence);
  if (judged.kind === "nothing to judge") throw new NothingToJudge(judged.sentence, document);
  return { verdict: report.verdict, report, evidence, document };
}

/**
 * What the suites of this version say of the evidence that a run has kept, as `conformance rejudge` does. Nothing is sent, and nothing written.
 *
 * @param folder that `writeReport` or a command has written
 * @throws {UsageProblem} where it holds no report of a run with its evidence
 */
export function rejudge(folder: string): Judged {
  const { report, evidence } = keptIn(folder);
  const again = rejudgeRun(report, evidence, libraryMessages);
  return { verdict: again.verdict, report: again, evidence, document: documentOf(again, evidence) };
}

function keptIn(folder: string): ReturnType<typeof readSavedRun> {
  try {
    return readSavedRun(folder);
  } catch (error) {
    // The only thing of a folder that each way in says in its own words.
    if (error instanceof UseCaseError)
      throw new UsageProblem(`${folder} is the report of a load run. Give that of a run.`);
    throw error;
  }
}
