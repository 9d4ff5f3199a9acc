import { advisory, gap, must, type ClauseTable } from "../clause.ts";

const section = "Endpoints / 8. Create a usage alert";

export const alertClauses = {
  "ALR-1": must(
    section,
    "`POST /v1/alerts` with `type` `rate_limit`, a `threshold` percentage and a `webhook_url` creates an alert.",
    {
      readings: {
        "answers-201": "it answers 201",
        "answers-200": "it answers 200",
        "answers-2xx": "it answers with another success",
      },
    },
  ),
  "ALR-2": gap(section, "The response to creating an alert is not shown."),
  "ALR-3": advisory(section, "The alert fires when usage crosses its threshold."),
  "ALR-4": gap(section, "What an alert sends to its `webhook_url` is not shown."),
  "ALR-5": gap(section, "The answer to a threshold outside 0 to 100, and other alert types, are not shown."),
} as const satisfies ClauseTable;
