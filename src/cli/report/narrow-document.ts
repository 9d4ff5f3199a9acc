import type { ReportDocument } from "../../report/model/report.ts";
import { narrowReport } from "../../report/model/requirements.ts";
import { readRequirements, type RequirementsFlag } from "../requirements-flag.ts";

/**
 * Judges a saved report by the requirement set in `--requirements`. Without the flag, returns the report unchanged.
 *
 * @throws {UsageError} if there is no such set, or the report was judged by an earlier one
 */
export const narrowDocument = (document: ReportDocument, flags: RequirementsFlag): ReportDocument =>
  flags.requirements === undefined
    ? document
    : { ...document, report: narrowReport(document.report, readRequirements(flags)) };
