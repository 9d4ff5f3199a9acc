import type { ClauseTable } from "../clause.ts";

const section = "Endpoints / 5. Read usage";
const report = "Resources and their fields / Usage report";

export const usageClauses = {
  "USE-1": { section, level: "must", says: "`GET /v1/usage` answers 200, and takes no parameters." },
  "USE-2": { section: report, level: "must", says: "`period` is an ISO 8601 timestamp." },
  "USE-3": { section: report, level: "must", says: "`requests` has the integers `used`, `limit` and `remaining`." },
  "USE-4": { section: report, level: "must", says: "`tokens` has the integers `used`, `limit` and `remaining`." },
  "USE-5": { section: report, level: "advisory", says: "`remaining` is `limit` minus `used`, and never below 0." },
  "USE-6": { section: report, level: "advisory", says: "`tokens.limit` is the monthly quota of the key's tier." },
  "USE-7": { section: report, level: "advisory", says: "`requests.used` grows with each admitted invoke." },
  "USE-8": {
    section: report,
    level: "advisory",
    says: "`tokens.used` grows by the tokens that an invoke or a stream reports.",
  },
  "USE-9": {
    section: report,
    level: "gap",
    says: "Which window `requests` speaks of, and what `period` marks, is not shown.",
  },
} as const satisfies ClauseTable;
