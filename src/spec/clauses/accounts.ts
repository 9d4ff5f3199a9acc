import { type ClauseTable, advisory, gap, must, policy } from "../clause.ts";

const usage = "Endpoints / 5. Read usage";
const report = "Resources and their fields / Usage report";

export const usageClauses = {
  "USE-1": must(usage, "`GET /v1/usage` answers 200, and takes no parameters."),
  "USE-2": must(report, "`period` is an ISO 8601 timestamp."),
  "USE-3": must(report, "`requests` has the integers `used`, `limit` and `remaining`."),
  "USE-4": must(report, "`tokens` has the integers `used`, `limit` and `remaining`."),
  "USE-5": advisory(report, "`remaining` is `limit` minus `used`, and never below 0."),
  "USE-6": advisory(report, "`tokens.limit` is the monthly quota of the key's tier."),
  "USE-7": advisory(report, "`requests.used` grows with each admitted invoke."),
  "USE-8": advisory(report, "`tokens.used` grows by the tokens that an invoke or a stream reports."),
  "USE-9": gap(report, "Which window `requests` speaks of, and what `period` marks, is not shown."),
  "USE-10": advisory(report, "`tokens.used` of a key does not fall within one `period`.", { since: "1.1" }),
} as const satisfies ClauseTable;

const apiKey = "Resources and their fields / API key";
const keyUsage = "Endpoints / 9. Read key usage";

export const keyClauses = {
  "KEY-1": policy(`${apiKey} 1`, "A personal key is tied to a user and has full access to that user's resources.", {
    untestable: "The interface shows neither users nor owners of resources.",
  }),
  "KEY-2": policy(
    `${apiKey} 1`,
    "A service key is for production, has a limited scope and can be revoked on its own.",
    { untestable: "The interface has no operation that revokes a key." },
  ),
  "KEY-3": must(
    `${apiKey} 1`,
    "A temporary key expires by itself after its set time, and then answers 401 `EXPIRED_API_KEY`, on every endpoint.",
  ),
  "KEY-4": must(
    `${apiKey} 2`,
    "A key starts with two letters and an underscore, the same for every key of the service.",
  ),
  "KEY-5": must(`${apiKey} 3`, "A key with a read-only scope does not succeed in writing."),
  "KEY-6": must(`${apiKey} 3`, "A key restricted to one agent does not succeed with another."),
  "KEY-7": must(`${apiKey} 3`, "A key with a list of allowed addresses does not succeed from another address."),
  "KEY-8": policy(`${apiKey} 3`, "A key can carry a usage alert threshold, a percentage.", {
    untestable: "Only the dashboard sets it; the interface does not show it.",
  }),
  "KEY-9": must(keyUsage, "`GET /v1/keys/usage` answers 200."),
  "KEY-10": gap(keyUsage, "Parameters and response of key usage are not shown."),
  "KEY-11": gap(
    "Resources and their fields / Gaps in the resource fields",
    "Fields of a stored key record are not shown.",
  ),
} as const satisfies ClauseTable;

const alerts = "Endpoints / 8. Create a usage alert";

export const alertClauses = {
  "ALR-1": must(
    alerts,
    "`POST /v1/alerts` with `type` `rate_limit`, a `threshold` percentage and a `webhook_url` creates an alert.",
    {
      readings: {
        "answers-201": "it answers 201",
        "answers-200": "it answers 200",
        "answers-2xx": "it answers with another success",
      },
    },
  ),
  "ALR-2": gap(alerts, "The response to creating an alert is not shown."),
  "ALR-3": advisory(alerts, "The alert fires when usage crosses its threshold."),
  "ALR-4": gap(alerts, "What an alert sends to its `webhook_url` is not shown."),
  "ALR-5": gap(alerts, "The answer to a threshold outside 0 to 100, and other alert types, are not shown."),
  "ALR-6": advisory(alerts, "Two alerts have two ids.", { since: "1.1" }),
} as const satisfies ClauseTable;

const createWebhook = "Endpoints / 6. Create a webhook";
const listDeliveries = "Endpoints / 7. List webhook deliveries";
const metrics = "Resources and their fields / Webhook metrics";

export const webhookClauses = {
  "WHK-1": must(createWebhook, "`POST /v1/webhooks` with `url`, `events`, `agent_id` and `secret` creates a webhook.", {
    readings: {
      "answers-201": "it answers 201",
      "answers-200": "it answers 200",
      "answers-2xx": "it answers with another success",
    },
  }),
  "WHK-2": must(
    createWebhook,
    "`url` is a URL and `events` an array of event types; a value of another type, where it is refused, is refused as the client's mistake.",
    { readings: { refused: "it is refused", accepted: "it is taken nevertheless" } },
  ),
  "WHK-3": must(createWebhook, "`agent_id` ties the webhook to that agent: it gets no events of others."),
  "WHK-4": gap(createWebhook, "The response to creating a webhook is not shown."),
  "WHK-5": gap(createWebhook, "The answer to a webhook without `url`, or with an unknown event type, is not shown."),
  "WHK-6": gap(createWebhook, "Which fields of the creation body are required is not shown."),
  "WHK-7": must(listDeliveries, "`GET /v1/webhooks/<webhook_id>/deliveries` answers for a webhook that exists."),
  "WHK-8": gap(listDeliveries, "Query parameters and response of the deliveries list are not shown."),
  "WHK-9": must(
    metrics,
    "Webhook metrics, where shown, have the string `webhook_id`, the integers `total_deliveries`, `successful` and `failed`, the number `average_response_time` and the timestamp `last_delivery`.",
    { readings: { absent: "no endpoint shows them", present: "an endpoint shows them" } },
  ),
  "WHK-10": gap(metrics, "The unit of `average_response_time` is not shown."),
  "WHK-11": advisory(metrics, "`total_deliveries` is `successful` plus `failed`."),
  "WHK-12": gap(
    "Resources and their fields / Gaps in the resource fields",
    "Fields of a stored webhook record beyond the creation body are not shown.",
  ),
  "WHK-13": advisory(listDeliveries, "Two webhooks have two ids.", { since: "1.1" }),
} as const satisfies ClauseTable;
