import type { LoadEvidence } from "../load/load-evidence.ts";
import type { Evidence } from "../evidence/evidence.ts";
import type { Report } from "./report.ts";

/**
 * A report and what stands beside it, as a renderer gets it: redacted, and without the secrets that the harness gave to webhooks. Texts of
 * the target are in it as they came: whoever writes them down escapes them for the format that it writes.
 */
export interface ReportDocument {
  readonly report: Report;
  /** `null` where it is not there: of a load report, or of a report that was moved without it. */
  readonly evidence: Evidence | null;
  /** Load evidence by the name that `report.load.runs[].evidence` gives it; empty of a report without load. */
  readonly load: ReadonlyMap<string, LoadEvidence>;
}
