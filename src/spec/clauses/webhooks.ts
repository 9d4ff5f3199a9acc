import { advisory, gap, must, type ClauseTable } from "../clause.ts";

const create = "Endpoints / 6. Create a webhook";
const list = "Endpoints / 7. List webhook deliveries";
const metrics = "Resources and their fields / Webhook metrics";

export const webhookClauses = {
  "WHK-1": must(create, "`POST /v1/webhooks` with `url`, `events`, `agent_id` and `secret` creates a webhook.", {
    readings: {
      "answers-201": "it answers 201",
      "answers-200": "it answers 200",
      "answers-2xx": "it answers with another success",
    },
  }),
  "WHK-2": must(
    create,
    "`url` is a URL and `events` an array of event types; a value of another type, where it is refused, is refused as the client's mistake.",
    { readings: { refused: "it is refused", accepted: "it is taken nevertheless" } },
  ),
  "WHK-3": must(create, "`agent_id` ties the webhook to that agent: it gets no events of others."),
  "WHK-4": gap(create, "The response to creating a webhook is not shown."),
  "WHK-5": gap(create, "The answer to a webhook without `url`, or with an unknown event type, is not shown."),
  "WHK-6": gap(create, "Which fields of the creation body are required is not shown."),
  "WHK-7": must(list, "`GET /v1/webhooks/<webhook_id>/deliveries` answers for a webhook that exists."),
  "WHK-8": gap(list, "Query parameters and response of the deliveries list are not shown."),
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
} as const satisfies ClauseTable;
