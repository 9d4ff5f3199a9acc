import type { ReportDocument } from "../report/model/report.ts";

export { UsageError as UsageProblem } from "../base/line.ts";

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
