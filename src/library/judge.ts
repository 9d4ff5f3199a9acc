import type { Evidence } from "../evidence/evidence.ts";
import type { ReportDocument, Report, Verdict } from "../report/model/report.ts";
import type { RedactedRun } from "../app/judge/run-and-report.ts";
import { judgeTarget } from "../app/judge/judge-target.ts";
import { documentOf, readSavedRun, type SavedRun } from "../app/report-folder/saved-report.ts";
import { type JudgeScope, scopeOf, libraryMessages } from "./scope.ts";
import { resolveTarget, type TargetDescription } from "./target.ts";
import { UseCaseError } from "../app/use-case-error.ts";
import { parseRequirements } from "../app/requirements.ts";
import { rejudgeRun } from "../app/rejudge.ts";
import { line, UsageError } from "../base/line.ts";

/** Options of a run. Every option has a default. */
export interface JudgeOptions extends JudgeScope {
  /** When this signal aborts, the run ends early and judges the evidence so far. */
  readonly signal?: AbortSignal;
}

/** The result of a run. Keys and secrets are redacted, except the secrets of webhooks that the harness created. */
export interface Judged {
  readonly verdict: Verdict;
  readonly report: Report;
  /** Every request, response and delivery. Still contains the secrets of webhooks that the harness created. */
  readonly evidence: Evidence;
  /** Report and evidence without webhook secrets: the input of all renderers. */
  readonly document: ReportDocument;
}

/** Thrown if nothing was judged, for example because the target cannot be reached. */
export class NothingToJudge extends Error {
  override readonly name = "NothingToJudge";
  /** A report that says why nothing was judged; `null` if there is no report. */
  readonly document: ReportDocument | null;

  constructor(sentence: string, document: ReportDocument | null) {
    super(sentence);
    this.document = document;
  }
}

/**
 * Runs the suites against a target, as `conformance run` does.
 * @throws {UsageProblem} before anything is sent, if the target or an option cannot be used
 * @throws {NothingToJudge} if the target could not be reached, or is no deployment of this interface
 */
export async function judge(target: TargetDescription, options: JudgeOptions = {}): Promise<Judged> {
  const { signal = new AbortController().signal } = options;
  return judgedOrThrow(await judgeTarget({ ...scopeOf(options), ...resolveTarget(target), signal, events: {} }));
}

export function judgedOrThrow(run: RedactedRun): Judged {
  const judged = toJudged(run);
  if (run.kind === "nothing to judge") throw new NothingToJudge(run.sentence, judged.document);
  return judged;
}

export const toJudged = ({ report, evidence }: SavedRun): Judged => ({
  verdict: report.verdict,
  report,
  evidence,
  document: documentOf(report, evidence),
});

/**
 * Judges saved evidence with the checks of this version, as `conformance rejudge` does.
 * @throws {UsageProblem} if the folder has no `report.json` and `evidence.json` of a run
 */
export function rejudge(folder: string, options: Pick<JudgeOptions, "requirements"> = {}): Judged {
  const requirements = parseRequirements(options.requirements, "requirements");
  const { report, evidence } = readSavedRunOf(folder);
  return toJudged({ report: rejudgeRun(report, evidence, libraryMessages, { requirements }), evidence });
}

function readSavedRunOf(folder: string): SavedRun {
  try {
    return readSavedRun(folder);
  } catch (error) {
    // `readSavedRun` throws a `UseCaseError` only if the folder holds a load report.
    if (error instanceof UseCaseError)
      throw new UsageError(line`${folder} is the report of a load run. Give that of a run.`);
    throw error;
  }
}
