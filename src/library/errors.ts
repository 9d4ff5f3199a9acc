import type { ReportDocument } from "../report/model/report.ts";

export { UsageError as UsageProblem } from "../base/usage-error.ts";

/** The error if nothing was judged: the target could not be reached, is another API, or refuses the key. The message says why. */
export class NothingToJudge extends Error {
  override readonly name = "NothingToJudge";
  /** A report with the same message; `null` if there is none. For callers that always write a report. */
  readonly document: ReportDocument | null;

  constructor(sentence: string, document: ReportDocument | null) {
    super(sentence);
    this.document = document;
  }
}
