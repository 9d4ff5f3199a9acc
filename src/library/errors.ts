import type { ReportDocument } from "../report/model/report.ts";

export { UsageError as UsageProblem } from "../base/usage-error.ts";

/** The target could not be reached, or is no deployment of this interface, or its key is refused. The message is one sentence that says why. */
export class NothingToJudge extends Error {
  override readonly name = "NothingToJudge";
  /** The report that says the same, for whoever has to write a file in any case; `null` where there is none. */
  readonly document: ReportDocument | null;

  constructor(sentence: string, document: ReportDocument | null) {
    super(sentence);
    this.document = document;
  }
}
