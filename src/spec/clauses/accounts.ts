import { type ClauseTable, advisory, gap, must, policy, optionalFieldReadings } from "../clause.ts";

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

const record = "Resources and their fields / Webhook delivery event";
const events = "Events / Webhook events";
const security = "Events / Delivery security and policy";

export const deliveryClauses = {
  "HOOK-1": must(record, "A delivery has the string `id`."),
  "HOOK-2": must(record, "A delivery has `type`, one of the published event types."),
  "HOOK-3": must(record, "A delivery has `created`, an ISO 8601 timestamp, of UTC where it names a zone."),
  "HOOK-4": must(record, "A delivery has `data`, an object."),
  "HOOK-5": must(record, "A delivery has the string `agent_id`."),
  "HOOK-6": must(record, "`deployment_id`, where present, is a string.", { readings: optionalFieldReadings }),
  "HOOK-7": must(events, "`agent.invoked` is sent when an invocation starts."),
  "HOOK-8": must(events, "`agent.completed` is sent when an execution completes."),
  "HOOK-9": must(events, "`agent.failed` is sent when an execution fails."),
  "HOOK-10": must(events, "`agent.timeout` is sent when an execution times out."),
  "HOOK-11": must(events, "`deployment.created` is sent when a deployment is created."),
  "HOOK-12": must(events, "`deployment.updated` is sent when a deployment is updated."),
  "HOOK-13": must(events, "`deployment.deleted` is sent when a deployment is removed."),
  "HOOK-14": must(events, "`deployment.health_changed` is sent when the health status changes."),
  "HOOK-15": must(events, "A webhook gets the event types it subscribed to, and no others."),
  "HOOK-16": must(events, "`agent.*` selects all four execution events, and no deployment event."),
  "HOOK-17": must(
    events,
    "`data` of `agent.completed` has the string `request_id`, the objects `input` and `result`, the number `execution_time` and the integer `tokens_used`.",
  ),
  "HOOK-18": must(
    events,
    "`data` of `agent.failed` has the string `request_id`, `error` with the strings `code`, `message` and `details`, and the object `input`.",
  ),
  "HOOK-19": gap(events, "The data of `agent.invoked`, `agent.timeout` and the deployment events is not shown."),
  "HOOK-20": must(
    "Errors / Error codes",
    "An agent that failed to process the request has the code `EXECUTION_ERROR` in its webhook.",
  ),
  "HOOK-21": must(
    `${security} 1`,
    "`X-Service-Signature` is the lower-case hexadecimal HMAC-SHA256 of the raw body, keyed with the webhook's secret.",
  ),
  "HOOK-22": must(
    `${security} 1`,
    "A receiver that answers 401 to a bad signature has failed the delivery, as any other refusal does.",
  ),
  "HOOK-23": policy(`${security} 2`, "Deliveries come from a fixed published set of three source addresses.", {
    untestable: "The document leaves the addresses out, and a tunnel hides the sender's.",
  }),
  "HOOK-24": gap(
    `${security} 3`,
    "How long a sender waits for a receiver, which should answer within 3 seconds, is not shown.",
  ),
  "HOOK-25": must(
    "States and transitions / Webhook delivery",
    "Any 2xx answer makes the delivery delivered: no attempt follows.",
  ),
  "HOOK-26": must("States and transitions / Webhook delivery", "A failed delivery is tried again.", {
    readings: {
      retried: "a redirect counts as failed, and the event is sent again",
      followed: "a redirect is followed",
    },
  }),
  "HOOK-27": must(
    `${security} 4`,
    "Retries come immediately, then after 1 minute, 5 minutes, 30 minutes and 2 hours.",
    {
      readings: {
        "from-previous": "each delay counts from the previous attempt",
        "from-first": "each delay counts from the first attempt",
      },
    },
  ),
  "HOOK-28": must(`${security} 4`, "After 5 failed attempts no further attempt is made.", {
    readings: {
      "five-attempts": "five attempts in all",
      "six-attempts": "a first delivery, then the five of the schedule",
      "four-retries": "a first delivery, then four of the schedule, so that the 2 hours are never reached",
    },
  }),
  "HOOK-29": must(`${security} 4`, "After the last failed attempt the delivery, or the webhook, is marked failed.", {
    readings: { delivery: "the delivery is marked", webhook: "the webhook is marked" },
  }),
  "HOOK-30": policy(`${security} 5`, "Receivers should tolerate duplicate events.", {
    party: "receiver",
    untestable: "A rule for receivers, which RCV-10 judges. The harness's own receiver keeps it.",
  }),
  "HOOK-31": gap(`${security} 6`, "Headers that carry the event type or the delivery's identifier are not shown."),
  "HOOK-32": advisory(record, "The event `id` stays the same over the attempts."),
  "HOOK-33": gap(`${security} 4`, "Whether events are still sent to a webhook that was marked failed is not shown."),
  "HOOK-34": gap(
    `${security} 1`,
    "What a delivery carries for a webhook that was created without a secret is not shown.",
  ),
  "HOOK-35": gap(
    `${security} 3`,
    "Whether an answer of 2xx whose body never ends makes the delivery delivered is not shown.",
  ),
  "HOOK-36": advisory(record, "`agent_id` of an execution event is the id of the agent that was invoked."),
  "HOOK-37": advisory(record, "`created` is the time of the event: within a minute of the target's own clock."),
  "HOOK-38": must(`${security} 3`, "A receiver that answers with a 2xx status within 3 seconds has got the delivery."),
  "HOOK-39": advisory(record, "`created` names its zone, UTC."),
  "HOOK-40": advisory(record, "Two different events have different `id`s."),
  "HOOK-41": advisory(events, "`execution_time` of `agent.completed` is not negative."),
  "HOOK-42": must(
    events,
    "A delivery says of an execution what the response says: `request_id`, `result`, `tokens_used` as `total_tokens`, and `execution_time` in the same unit.",
    { since: "1.1" },
  ),
  "HOOK-43": must(
    events,
    "An execution ends once: `agent.completed` excludes `agent.failed` and a later `agent.timeout`, and these events agree with the response.",
    { since: "1.1" },
  ),
  "HOOK-44": must(
    `${security} 2`,
    "Every delivery comes from one of the source addresses that the target file lists as published.",
    { since: "1.2" },
  ),
  "HOOK-45": gap(`${security} 2`, "The three source addresses of deliveries are left out.", { since: "1.2" }),
} as const satisfies ClauseTable;
