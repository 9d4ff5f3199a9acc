import { getPath, isObject } from "../../base/json.ts";
import { fieldError } from "../behaviour/errors.ts";
import { usedPercent } from "../behaviour/alerts.ts";
import { setField } from "../json-edit.ts";
import {
  always,
  overrideJson,
  overrideResult,
  overrideSuccessStatus,
  variant,
  variants,
  withKeyTraits,
  type Override,
} from "../patch.ts";
import { wrapAsData, wrapAsResult } from "./bodies.ts";

const webhookBody = overrideJson("webhookBody");
const deliveriesBody = overrideJson("deliveriesBody");
const metricsBody = overrideJson("metricsBody");
const alertBody = overrideJson("alertBody");

const showWebhookAsFailed: Override = (base) => ({
  deliveriesBody: (webhook, deliveries) => {
    const hasFailed = deliveries.some(({ state }) => state === "failed");
    const pending = deliveries.map((each) => (each.state === "failed" ? { ...each, state: "pending" as const } : each));
    return setField(base.deliveriesBody(webhook, pending), "status", hasFailed ? "failed" : "active");
  },
});

const webhookVariants = variants("Endpoints / 6. Create a webhook", {
  "webhook-answers-200": variant("Creating a webhook responds with 200.").by(
    overrideSuccessStatus("createWebhook", 200),
  ),
  "webhook-id-as-id": variant("The id of a webhook is called `id`.").by(webhookBody.rename("webhook_id", "id")),
  "webhook-in-data": variant("A webhook is in the envelope, as `data`.").by(webhookBody(wrapAsData)),
  "webhook-in-result": variant("A webhook is in the envelope, as `data.result`.").by(webhookBody(wrapAsResult)),
  "webhook-id-alone": variant("The response of a created webhook has only its id.").by(
    webhookBody((body) => ({ webhook_id: getPath(body, "webhook_id") })),
  ),
  "webhook-of-any-types-accepted": variant(
    "A `url` that is a number and `events` that is a text are accepted, and nothing is ever sent.",
  ).by(
    overrideResult("validateWebhook")((error, body) =>
      typeof getPath(body, "url") === "number" || typeof getPath(body, "events") === "string" ? null : error,
    ),
  ),
  "webhook-unknown-events-accepted": variant("Unknown event types are accepted, and select nothing.").by((base) => ({
    validateWebhook: (body, refusedAddress) => {
      const known = Array.isArray(getPath(body, "events")) ? setField(body, "events", ["agent.*"]) : body;
      return base.validateWebhook(known, refusedAddress);
    },
  })),
  "webhook-needs-secret": variant("A webhook without a secret is refused.").by(
    overrideResult("validateWebhook")(
      (error, body) =>
        error ?? (getPath(body, "secret") === undefined ? fieldError("missing-field", "secret", "missing") : null),
    ),
  ),
  "webhook-unusual-secrets-refused": variant(
    "A secret that is long, not ASCII or has blanks at its ends is refused.",
  ).by(
    overrideResult("validateWebhook")((error, body) => {
      const secret = getPath(body, "secret");
      const isUnusual = typeof secret === "string" && !/^[!-~][ -~]{10,100}[!-~]$/.test(secret);
      return error ?? (isUnusual ? fieldError("invalid-input", "secret", "must have 12 to 102 characters") : null);
    }),
  ),
  "webhook-answers-202": variant("Creating a webhook responds with 202.").by(
    overrideSuccessStatus("createWebhook", 202),
  ),
  "webhook-statuses-differ": variant("Creating a webhook responds with 201 and 200 in turn.").by(
    overrideSuccessStatus("createWebhook", 200, 2),
  ),
});

const deliveryListVariants = variants("Endpoints / 7. List webhook deliveries", {
  "deliveries-as-array": variant("The list of deliveries is an array.").by(
    deliveriesBody((body) => getPath(body, "data")),
  ),
  "deliveries-under-their-name": variant("The list of deliveries is called `deliveries`.").by(
    deliveriesBody.rename("data", "deliveries"),
  ),
  "deliveries-in-envelope": variant("The list of deliveries is in the envelope, as `data`.").by(
    deliveriesBody(wrapAsData),
  ),
  "webhook-marked-failed": variant(
    "Once a delivery has failed, the webhook is marked failed and gets no more events.",
  ).by((base) => ({
    acceptsEvent: (load) => load.failed === 0 && base.acceptsEvent(load),
    ...showWebhookAsFailed(base),
  })),
  "webhook-marked-failed-and-served": variant(
    "Once a delivery has failed, the webhook is marked failed, and still gets events.",
  ).by(showWebhookAsFailed),
  "failed-delivery-of-another-word": variant("The state of a failed delivery is called `exhausted`.").by(
    deliveriesBody((body) => {
      const items = getPath(body, "data");
      const word = (item: unknown) =>
        getPath(item, "status") === "failed" ? setField(item, "status", "exhausted") : item;
      return Array.isArray(items) ? setField(body, "data", items.map(word)) : body;
    }),
  ),
});

const webhookMetricsVariants = variants("Resources / Webhook metrics", {
  "no-webhook-metrics": variant("There are no webhook metrics.").by(() => ({
    servedPath: (path) => path.replace(/^(\/v1\/webhooks\/[^/]+)\/metrics/, "$1/nothing"),
  })),
  "metrics-in-seconds": variant("`average_response_time` is in seconds.").by((base) => ({
    metricsBody: (webhook, totals) => base.metricsBody(webhook, { ...totals, answersMs: totals.answersMs / 1000 }),
  })),
  "metrics-in-envelope": variant("Webhook metrics stand in the envelope, as `data`.").by(metricsBody(wrapAsData)),
  "metrics-last-null": variant("`last_delivery` is null.").by(metricsBody.set("last_delivery", null)),
});

const alertVariants = variants("Endpoints / 8. Create a usage alert", {
  "alert-answers-200": variant("Creating an alert responds with 200.").by(overrideSuccessStatus("createAlert", 200)),
  "alert-id-as-id": variant("The id of an alert is called `id`.").by(alertBody.rename("alert_id", "id")),
  "alert-in-data": variant("An alert is in the envelope, as `data`.").by(alertBody(wrapAsData)),
  "alert-of-minute": variant("Alerts watch the minute.").by(always("watchedWindow", "minute")),
  "alert-message-as-event": variant("The message of an alert has the shape of an event.").by((base) => ({
    alertMessage: (watched, window, nowMs) => ({
      id: watched.id,
      type: "usage.alert",
      created: new Date(nowMs).toISOString(),
      data: base.alertMessage(watched, window, nowMs),
    }),
  })),
  "alert-fires-on-every-request": variant("An alert fires with every request from its threshold on.").by((base) => ({
    firesAlert: (threshold, { before, after }) =>
      base.firesAlert(threshold, { before: { ...before, remaining: before.limit }, after }),
  })),
  "alert-threshold-beyond-accepted": variant("A threshold outside 0 to 100 is accepted.").by((base) => ({
    validateAlert: (body, refusedAddress) =>
      base.validateAlert(
        typeof getPath(body, "threshold") === "number" ? setField(body, "threshold", 50) : body,
        refusedAddress,
      ),
  })),
  "alert-of-unknown-type-accepted": variant("An alert of any type is accepted, and watches requests.").by((base) => ({
    validateAlert: (body, refusedAddress) =>
      base.validateAlert(
        typeof getPath(body, "type") === "string" ? setField(body, "type", "rate_limit") : body,
        refusedAddress,
      ),
  })),
  "alert-answers-202": variant("Creating an alert responds with 202.").by(overrideSuccessStatus("createAlert", 202)),
  "alert-never-fires": variant("An alert never fires.").by(always("firesAlert", false), ["ALR-3"]),
  "alert-fires-at-the-end": variant("An alert fires when no requests are left, regardless of its threshold.").by(
    () => ({
      firesAlert: (_threshold, { before, after }) => usedPercent(before) < 100 && usedPercent(after) >= 100,
    }),
    ["ALR-3"],
  ),
});

const otherStatus: Readonly<Record<string, string>> = {
  running: "in_progress",
  completed: "succeeded",
  failed: "error",
};

const operationVariants = variants("Endpoints / 10. Check an asynchronous operation", {
  "batch-accepted-202": variant("A batch responds with 202.").by(overrideSuccessStatus("batch", 202)),
  "batch-200": variant("A batch responds with 200.").by(overrideSuccessStatus("batch", 200)),
  "handle-envelope": variant("The handle of an operation is in the envelope, as `data`.").by(
    overrideJson("handleBody")(wrapAsData),
  ),
  "handle-with-more": variant("The handle of an operation has more fields.").by((base) => ({
    handleBody: (operation) => base.operationBody(operation),
  })),
  "operation-envelope": variant("The response of `check_url` is in the envelope, as `data`.").by(
    overrideJson("operationBody")(wrapAsData),
  ),
  "operation-of-other-words": variant("After `pending` an operation is `in_progress`, `succeeded` or `error`.").by(
    overrideJson("operationBody")((body, { status }) => setField(body, "status", otherStatus[status] ?? status)),
  ),
  "operation-without-results": variant("The response of `check_url` never has results.").by(
    overrideJson("operationBody").remove("results"),
  ),
  "operation-done-at-once": variant("An operation is done with as soon as anybody can look at it.").by(() => ({
    pendingMs: () => 0,
    entryMs: () => 0,
  })),
  "operation-ids-of-uuid": variant("Operations have UUIDs.").by(() => ({
    operationId: (number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
  })),
  "slow-operations": variant("Each entry of a batch takes four seconds.").by(() => ({
    pendingMs: () => 2000,
    entryMs: () => 4000,
  })),
});

const detailsVariants = variants("Endpoints / 12. Other endpoints", {
  "no-execution-path": variant("There is no local execution path.").by(() => ({
    servedPath: (path) => path.replace(/^\/api\/v1\/agents\//, "/api/v1/nothing/"),
  })),
  "execution-path-bare-result": variant("The local execution path returns the bare result.").by((base) => ({
    jsonText: (value, facts) =>
      base.jsonText(
        facts.endpoint === "execute" && isObject(value) && "result" in value ? value["result"] : value,
        facts,
      ),
  })),
  "no-agent-description": variant("There is no detailed information about an agent.").by(() => ({
    servedPath: (path) => path.replace(/^\/v1\/agents\/([^/?]+)(?=\?|$)/, "/v1/agents/$1/nothing"),
  })),
  "agent-description-envelope": variant("The details of an agent are in the envelope, as `data`.").by(
    overrideJson("agentDetailsBody")(wrapAsData),
  ),
  "agent-description-short": variant("Detailed information about an agent is what the list has.").by(() => ({
    agentDetailsBody: ({ listItem }) => listItem,
  })),
});

const keyVariants = variants("Endpoints / 9. Read key usage", {
  "key-usage-envelope": variant("Key usage is in the envelope, as `data`.").by(
    overrideJson("keyUsageBody")(wrapAsData),
  ),
  "key-usage-as-usage": variant("Key usage has the body of usage.").by((base) => ({
    keyUsageBody: (facts) => base.usageBody(facts),
  })),
  "key-usage-as-list": variant("Key usage is a list of the keys, with this one in it.").by(() => ({
    keyUsageBody: ({ key, hour, tokens }) => ({
      keys: [{ key_name: key.name, request_count: hour.limit - hour.remaining, token_count: tokens.used }],
    }),
  })),
  "reader-may-invoke": variant("A read-only key may invoke and stream, for that changes nothing.").by(
    withKeyTraits({ scope: "full" }, "invoke", "stream"),
  ),
  "reader-may-batch": variant("A read-only key may run agents.").by(
    withKeyTraits({ scope: "full" }, "invoke", "stream", "batch"),
  ),
});

export const otherEndpointVariants = [
  ...keyVariants,
  ...operationVariants,
  ...detailsVariants,
  ...webhookVariants,
  ...deliveryListVariants,
  ...webhookMetricsVariants,
  ...alertVariants,
];
