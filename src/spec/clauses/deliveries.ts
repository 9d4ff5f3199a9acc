import type { ClauseTable } from "../clause.ts";

const record = "Resources and their fields / Webhook delivery event";
const events = "Events / Webhook events";
const policy = "Events / Delivery security and policy";

export const deliveryClauses = {
  "HOOK-1": { section: record, level: "must", says: "A delivery has the string `id`." },
  "HOOK-2": { section: record, level: "must", says: "A delivery has `type`, one of the published event types." },
  "HOOK-3": {
    section: record,
    level: "must",
    says: "A delivery has `created`, an ISO 8601 timestamp, of UTC where it names a zone.",
  },
  "HOOK-4": { section: record, level: "must", says: "A delivery has `data`, an object." },
  "HOOK-5": { section: record, level: "must", says: "A delivery has the string `agent_id`." },
  "HOOK-6": {
    section: record,
    level: "must",
    says: "`deployment_id`, where present, is a string.",
    readings: { absent: "it is left out", present: "it is there" },
  },
  "HOOK-7": { section: events, level: "must", says: "`agent.invoked` is sent when an invocation starts." },
  "HOOK-8": { section: events, level: "must", says: "`agent.completed` is sent when an execution completes." },
  "HOOK-9": { section: events, level: "must", says: "`agent.failed` is sent when an execution fails." },
  "HOOK-10": { section: events, level: "must", says: "`agent.timeout` is sent when an execution times out." },
  "HOOK-11": { section: events, level: "must", says: "`deployment.created` is sent when a deployment is created." },
  "HOOK-12": { section: events, level: "must", says: "`deployment.updated` is sent when a deployment is updated." },
  "HOOK-13": { section: events, level: "must", says: "`deployment.deleted` is sent when a deployment is removed." },
  "HOOK-14": {
    section: events,
    level: "must",
    says: "`deployment.health_changed` is sent when the health status changes.",
  },
  "HOOK-15": {
    section: events,
    level: "must",
    says: "A webhook gets the event types it subscribed to, and no others.",
  },
  "HOOK-16": {
    section: events,
    level: "must",
    says: "`agent.*` selects all four execution events, and no deployment event.",
  },
  "HOOK-17": {
    section: events,
    level: "must",
    says: "`data` of `agent.completed` has the string `request_id`, the objects `input` and `result`, the number `execution_time` and the integer `tokens_used`.",
  },
  "HOOK-18": {
    section: events,
    level: "must",
    says: "`data` of `agent.failed` has the string `request_id`, `error` with the strings `code`, `message` and `details`, and the object `input`.",
  },
  "HOOK-19": {
    section: events,
    level: "gap",
    says: "The data of `agent.invoked`, `agent.timeout` and the deployment events is not shown.",
  },
  "HOOK-20": {
    section: "Errors / Error codes",
    level: "must",
    says: "An agent that failed to process the request has the code `EXECUTION_ERROR` in its webhook.",
  },
  "HOOK-21": {
    section: `${policy} 1`,
    level: "must",
    says: "`X-Service-Signature` is the lower-case hexadecimal HMAC-SHA256 of the raw body, keyed with the webhook's secret.",
  },
  "HOOK-22": {
    section: `${policy} 1`,
    level: "must",
    says: "A receiver that answers 401 to a bad signature has failed the delivery, as any other refusal does.",
  },
  "HOOK-23": {
    section: `${policy} 2`,
    level: "policy",
    says: "Deliveries come from a fixed published set of three source addresses.",
    untestable: "The document leaves the addresses out, and a tunnel hides the sender's.",
  },
  "HOOK-24": {
    section: `${policy} 3`,
    level: "gap",
    says: "How long a sender waits for a receiver, which should answer within 3 seconds, is not shown.",
  },
  "HOOK-25": {
    section: "States and transitions / Webhook delivery",
    level: "must",
    says: "Any 2xx answer makes the delivery delivered: no attempt follows.",
  },
  "HOOK-26": {
    section: "States and transitions / Webhook delivery",
    level: "must",
    says: "A failed delivery is tried again.",
  },
  "HOOK-27": {
    section: `${policy} 4`,
    level: "must",
    says: "Retries come immediately, then after 1 minute, 5 minutes, 30 minutes and 2 hours.",
    readings: {
      "from-previous": "each delay counts from the previous attempt",
      "from-first": "each delay counts from the first attempt",
    },
  },
  "HOOK-28": {
    section: `${policy} 4`,
    level: "must",
    says: "After 5 failed attempts no further attempt is made.",
    readings: {
      "five-attempts": "five attempts in all",
      "six-attempts": "a first delivery, then the five of the schedule",
      "four-retries": "a first delivery, then four of the schedule, so that the 2 hours are never reached",
    },
  },
  "HOOK-29": {
    section: `${policy} 4`,
    level: "must",
    says: "After the last failed attempt the delivery, or the webhook, is marked failed.",
    readings: { delivery: "the delivery is marked", webhook: "the webhook is marked" },
  },
  "HOOK-30": {
    section: `${policy} 5`,
    level: "policy",
    says: "Receivers should tolerate duplicate events.",
    untestable: "A rule for receivers. The harness's own receiver keeps it.",
  },
  "HOOK-31": {
    section: `${policy} 6`,
    level: "gap",
    says: "Headers that carry the event type or the delivery's identifier are not shown.",
  },
  "HOOK-32": { section: record, level: "advisory", says: "The event `id` stays the same over the attempts." },
  "HOOK-33": {
    section: `${policy} 4`,
    level: "gap",
    says: "Whether events are still sent to a webhook that was marked failed is not shown.",
  },
  "HOOK-34": {
    section: `${policy} 1`,
    level: "gap",
    says: "What a delivery carries for a webhook that was created without a secret is not shown.",
  },
  "HOOK-35": {
    section: `${policy} 3`,
    level: "gap",
    says: "Whether an answer of 2xx whose body never ends makes the delivery delivered is not shown.",
  },
  "HOOK-36": {
    section: record,
    level: "advisory",
    says: "`agent_id` of an execution event is the id of the agent that was invoked.",
  },
  "HOOK-37": {
    section: record,
    level: "advisory",
    says: "`created` is the time of the event: within a minute of the target's own clock.",
  },
  "HOOK-38": {
    section: `${policy} 3`,
    level: "must",
    says: "A receiver that answers with a 2xx status within 3 seconds has got the delivery.",
  },
  "HOOK-39": { section: record, level: "advisory", says: "`created` names its zone, UTC." },
  "HOOK-40": { section: record, level: "advisory", says: "Two different events have different `id`s." },
  "HOOK-41": { section: events, level: "advisory", says: "`execution_time` of `agent.completed` is not negative." },
} as const satisfies ClauseTable;
