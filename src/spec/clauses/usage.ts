import { advisory, gap, must, type ClauseTable } from "../clause.ts";

const section = "Endpoints / 5. Read usage";
const report = "Resources and their fields / Usage report";

export const usageClauses = {
  "USE-1": must(section, "`GET /v1/usage` answers 200, and takes no parameters."),
  "USE-2": must(report, "`period` is an ISO 8601 timestamp."),
  "USE-3": must(report, "`requests` has the integers `used`, `limit` and `remaining`."),
  "USE-4": must(report, "`tokens` has the integers `used`, `limit` and `remaining`."),
  "USE-5": advisory(report, "`remaining` is `limit` minus `used`, and never below 0."),
  "USE-6": advisory(report, "`tokens.limit` is the monthly quota of the key's tier."),
  "USE-7": advisory(report, "`requests.used` grows with each admitted invoke."),
  "USE-8": advisory(report, "`tokens.used` grows by the tokens that an invoke or a stream reports."),
  "USE-9": gap(report, "Which window `requests` speaks of, and what `period` marks, is not shown."),
} as const satisfies ClauseTable;
