import type { Gap } from "./gap.ts";

/** Gaps in webhooks, deliveries and alerts. */
export const webhookGaps: readonly Gap[] = [
  {
    clauses: ["HOOK-24"],
    open: "How long the server waits for a receiver",
    chosen: "the 3 seconds in which a receiver should respond",
    otherwise: ["receiver-has-ten-seconds", "receiver-has-two-minutes"],
  },
  {
    clauses: ["WHK-4", "WHK-12"],
    open: "The response to creating a webhook, and the fields of a webhook",
    chosen:
      "201 with `webhook_id`, `url`, `events`, `agent_id`, `status`, `created_at` at the top level; never the secret",
    otherwise: ["webhook-answers-200", "webhook-id-as-id", "webhook-id-alone", "webhook-in-data", "webhook-in-result"],
  },
  {
    clauses: ["WHK-5"],
    open: "A webhook without `url`, or of an unknown event type",
    chosen: "400 `MISSING_REQUIRED_FIELD`; 400 `INVALID_INPUT`; the wildcards are `agent.*` and `deployment.*`",
    otherwise: ["webhook-unknown-events-accepted"],
  },
  {
    clauses: ["WHK-6"],
    open: "Which fields a webhook needs",
    chosen:
      "`url` and `events`; without `agent_id` it gets the events of every agent; 404 `AGENT_NOT_FOUND` for an unknown agent",
    otherwise: ["webhook-needs-secret"],
  },
  {
    clauses: [],
    open: "Webhooks of a key for some agents only, and of other keys",
    chosen: "403 `FORBIDDEN` unless `agent_id` is one of those; 404 `WEBHOOK_NOT_FOUND` for the webhook of another key",
    otherwise: [],
  },
  {
    clauses: ["WHK-8"],
    open: "Query parameters and response of the deliveries list",
    chosen:
      "no parameters; `data`, newest first, each with its `status` and `attempts`; the last thousand ended ones are kept",
    otherwise: ["deliveries-as-array", "deliveries-under-their-name", "deliveries-in-envelope"],
  },
  {
    clauses: ["WHK-9"],
    open: "The path of webhook metrics, and their values before the first delivery",
    chosen: "`GET /v1/webhooks/{webhook_id}/metrics`; an average of 0, and the time of creation as `last_delivery`",
    otherwise: ["no-webhook-metrics", "metrics-in-envelope"],
  },
  {
    clauses: ["WHK-10"],
    open: "The unit of `average_response_time`",
    chosen: "milliseconds",
    otherwise: ["metrics-in-seconds"],
  },
  {
    clauses: ["HOOK-6"],
    open: "When an event has a `deployment_id`",
    chosen: "always",
    otherwise: ["event-without-deployment"],
  },
  {
    clauses: ["HOOK-19"],
    open: "The data of the other events",
    chosen:
      "`agent.invoked`: `request_id`, `input`; `agent.timeout`: also `timeout` in seconds; of a deployment: `deployment_id`, `version`, `status`",
    otherwise: ["event-payloads-of-other-shape", "event-with-more"],
  },
  {
    clauses: [],
    open: "The event of a stream whose client left before its end",
    chosen: "none",
    otherwise: ["stream-left-fails"],
  },
  {
    clauses: [],
    open: "How a deployment changes, since the interface has no request for it",
    chosen: "`POST /control/deployments`, which only this server has, or an edited agent file",
    otherwise: [],
  },
  {
    clauses: ["HOOK-27", "HOOK-28"],
    open: "What the delays of retries count from, and how many attempts there are",
    chosen: "the previous attempt; five, of which the first is immediate",
    otherwise: ["retries-from-first", "six-attempts", "six-attempts-from-first", "four-retries", "retries-with-jitter"],
  },
  {
    clauses: ["HOOK-29", "HOOK-33"],
    open: "Whether the delivery or the webhook is marked failed, and whether later events are still sent",
    chosen: "the delivery; yes",
    otherwise: ["webhook-marked-failed", "webhook-marked-failed-and-served", "failed-delivery-of-another-word"],
  },
  {
    clauses: ["HOOK-31"],
    open: "Headers of a delivery that name its type or id",
    chosen: "none",
    otherwise: ["delivery-headers", "delivery-headers-lower-case"],
  },
  {
    clauses: ["HOOK-34"],
    open: "The signature of a webhook without a secret",
    chosen: "no such header",
    otherwise: ["delivery-signed-without-secret"],
  },
  {
    clauses: ["HOOK-35"],
    open: "A 2xx whose body never ends",
    chosen: "delivered: the status decides",
    otherwise: ["delivery-awaits-answer-body"],
  },
  {
    clauses: ["ALR-2"],
    open: "The response to creating an alert",
    chosen: "201 with `alert_id`, `type`, `threshold`, `webhook_url`, `created_at`",
    otherwise: ["alert-answers-200", "alert-id-as-id", "alert-in-data"],
  },
  {
    clauses: ["ALR-3"],
    open: "Which usage an alert watches, and how often it fires",
    chosen: "the requests of its key in the hour; each time they reach the threshold from below",
    otherwise: ["alert-of-minute", "alert-fires-on-every-request"],
  },
  {
    clauses: ["ALR-4"],
    open: "The message of an alert",
    chosen: "`id`, `type`, `threshold`, `used`, `limit`, `remaining`, `created`; not signed; retried like any delivery",
    otherwise: ["alert-message-as-event"],
  },
  {
    clauses: ["ALR-5"],
    open: "A threshold outside 0 to 100, or another type of alert",
    chosen: "400 `INVALID_INPUT`",
    otherwise: ["alert-threshold-beyond-accepted", "alert-of-unknown-type-accepted"],
  },
  {
    clauses: [],
    open: "Addresses that webhooks and alerts may name",
    chosen:
      "http and https, but no private networks: 400 `INVALID_INPUT`, or a failed delivery if a host name resolves to one; loopback only if the server listens there",
    otherwise: [],
  },
];
