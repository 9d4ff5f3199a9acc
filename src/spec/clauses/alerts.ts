import type { ClauseTable } from "../clause.ts";

const section = "Endpoints / 8. Create a usage alert";

export const alertClauses = {
  "ALR-1": {
    section,
    level: "must",
    says: "`POST /v1/alerts` with `type` `rate_limit`, a `threshold` percentage and a `webhook_url` creates an alert.",
    readings: {
      "answers-201": "it answers 201",
      "answers-200": "it answers 200",
      "answers-2xx": "it answers with another success",
    },
  },
  "ALR-2": { section, level: "gap", says: "The response to creating an alert is not shown." },
  "ALR-3": { section, level: "advisory", says: "The alert fires when usage crosses its threshold." },
  "ALR-4": { section, level: "gap", says: "What an alert sends to its `webhook_url` is not shown." },
  "ALR-5": {
    section,
    level: "gap",
    says: "The answer to a threshold outside 0 to 100, and other alert types, are not shown.",
  },
} as const satisfies ClauseTable;
