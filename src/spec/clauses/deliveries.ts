import { advisory, gap, must, policy, type ClauseTable } from "../clause.ts";

const record = "Resources and their fields / Webhook delivery event";
const events = "Events / Webhook events";
const security = "Events / Delivery security and policy";

export const deliveryClauses = {
  "HOOK-1": must(record, "A delivery has the string `id`."),
  "HOOK-2": must(record, "A delivery has `type`, one of the published event types."),
  "HOOK-3": must(record, "A delivery has `created`, an ISO 8601 timestamp, of UTC where it names a zone."),
  "HOOK-4": must(record, "A delivery has `data`, an object."),
  "HOOK-5": must(record, "A delivery has the string `agent_id`."),
  "HOOK-6": must(record, "`deployment_id`, where present, is a string.", {
    readings: { absent: "it is left out", present: "it is there" },
  }),
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
