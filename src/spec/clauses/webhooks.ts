import type { ClauseTable } from "../clause.ts";

const create = "Endpoints / 6. Create a webhook";
const list = "Endpoints / 7. List webhook deliveries";
const metrics = "Resources and their fields / Webhook metrics";

export const webhookClauses = {
  "WHK-1": {
    section: create,
    level: "must",
    says: "`POST /v1/webhooks` with `url`, `events`, `agent_id` and `secret` creates a webhook.",
    readings: {
      "answers-201": "it answers 201",
      "answers-200": "it answers 200",
      "answers-2xx": "it answers with another success",
    },
  },
  "WHK-2": {
    section: create,
    level: "must",
    says: "`url` is a URL and `events` an array of event types; a value of another type, where it is refused, is refused as the client's mistake.",
    readings: { refused: "it is refused", accepted: "it is taken nevertheless" },
  },
  "WHK-3": {
    section: create,
    level: "must",
    says: "`agent_id` ties the webhook to that agent: it gets no events of others.",
  },
  "WHK-4": { section: create, level: "gap", says: "The response to creating a webhook is not shown." },
  "WHK-5": {
    section: create,
    level: "gap",
    says: "The answer to a webhook without `url`, or with an unknown event type, is not shown.",
  },
  "WHK-6": { section: create, level: "gap", says: "Which fields of the creation body are required is not shown." },
  "WHK-7": {
    section: list,
    level: "must",
    says: "`GET /v1/webhooks/<webhook_id>/deliveries` answers for a webhook that exists.",
  },
  "WHK-8": { section: list, level: "gap", says: "Query parameters and response of the deliveries list are not shown." },
  "WHK-9": {
    section: metrics,
    level: "must",
    says: "Webhook metrics, where shown, have the string `webhook_id`, the integers `total_deliveries`, `successful` and `failed`, the number `average_response_time` and the timestamp `last_delivery`.",
    readings: { absent: "no endpoint shows them", present: "an endpoint shows them" },
  },
  "WHK-10": { section: metrics, level: "gap", says: "The unit of `average_response_time` is not shown." },
  "WHK-11": { section: metrics, level: "advisory", says: "`total_deliveries` is `successful` plus `failed`." },
  "WHK-12": {
    section: "Resources and their fields / Gaps in the resource fields",
    level: "gap",
    says: "Fields of a stored webhook record beyond the creation body are not shown.",
  },
} as const satisfies ClauseTable;
