import { getPath } from "../../base/json.ts";
import { usedPercent } from "../behaviour/alerts.ts";
import { overrideJson, overrideSuccessStatus } from "../overrides.ts";
import { setField } from "../json-edit.ts";
import { variant, variants, type Override } from "../patch.ts";
import { fieldError } from "../api-error.ts";
import { wrapAsData, wrapAsResult } from "./bodies.ts";

const webhookBody = overrideJson("webhookBody");
const deliveriesBody = overrideJson("deliveriesBody");
const metricsBody = overrideJson("metricsBody");
const alertBody = overrideJson("alertBody");

/** Shows a failed delivery as pending in the list of deliveries, and the webhook itself as failed. */
const showWebhookAsFailed: Override = (base) => ({
  deliveriesBody: (webhook, deliveries) => {
    const hasFailed = deliveries.some(({ state }) => state === "failed");
    const pending = deliveries.map((each) => (each.state === "failed" ? { ...each, state: "pending" as const } : each));
    return setField(base.deliveriesBody(webhook, pending), "status", hasFailed ? "failed" : "active");
  },
});

export const webhookVariants = variants("Endpoints / 6. Create a webhook", {
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
  ).by((base) => ({
    validateWebhook: (body, refusedAddress) =>
      typeof getPath(body, "url") === "number" || typeof getPath(body, "events") === "string"
        ? null
        : base.validateWebhook(body, refusedAddress),
  })),
  "webhook-unknown-events-accepted": variant("Unknown event types are accepted, and select nothing.").by((base) => ({
    validateWebhook: (body, refusedAddress) => {
      const known = Array.isArray(getPath(body, "events")) ? setField(body, "events", ["agent.*"]) : body;
      return base.validateWebhook(known, refusedAddress);
    },
  })),
  "webhook-needs-secret": variant("A webhook without a secret is refused.").by((base) => ({
    validateWebhook: (body, refusedAddress) =>
      base.validateWebhook(body, refusedAddress) ??
      (getPath(body, "secret") === undefined ? fieldError("missing-field", "secret", "missing") : null),
  })),
  "webhook-unusual-secrets-refused": variant(
    "A secret that is long, not ASCII or has blanks at its ends is refused.",
  ).by((base) => ({
    validateWebhook: (body, refusedAddress) => {
      const secret = getPath(body, "secret");
      return (
        base.validateWebhook(body, refusedAddress) ??
        (typeof secret === "string" && !/^[!-~][ -~]{10,100}[!-~]$/.test(secret)
          ? fieldError("invalid-input", "secret", "must have 12 to 102 characters")
          : null)
      );
    },
  })),
  "webhook-answers-202": variant("Creating a webhook responds with 202.").by(
    overrideSuccessStatus("createWebhook", 202),
  ),
  "webhook-statuses-differ": variant("Creating a webhook responds with 201 and 200 in turn.").by((base) => {
    let count = 0;
    return {
      successStatus: (endpoint, health) => {
        if (endpoint !== "createWebhook") return base.successStatus(endpoint, health);
        count += 1;
        return count % 2 === 0 ? 200 : 201;
      },
    };
  }),
});

export const deliveryListVariants = variants("Endpoints / 7. List webhook deliveries", {
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

export const webhookMetricsVariants = variants("Resources / Webhook metrics", {
  "no-webhook-metrics": variant("There are no webhook metrics.").by(() => ({
    servedPath: (path) => path.replace(/^(\/v1\/webhooks\/[^/]+)\/metrics/, "$1/nothing"),
  })),
  "metrics-in-seconds": variant("`average_response_time` is in seconds.").by((base) => ({
    metricsBody: (webhook, counted) =>
      base.metricsBody(webhook, { ...counted, averageResponseMs: (counted.averageResponseMs ?? 0) / 1000 }),
  })),
  "metrics-in-envelope": variant("Webhook metrics stand in the envelope, as `data`.").by(metricsBody(wrapAsData)),
  "metrics-last-null": variant("`last_delivery` is null.").by(metricsBody.set("last_delivery", null)),
});

export const alertVariants = variants("Endpoints / 8. Create a usage alert", {
  "alert-answers-200": variant("Creating an alert responds with 200.").by(overrideSuccessStatus("createAlert", 200)),
  "alert-id-as-id": variant("The id of an alert is called `id`.").by(alertBody.rename("alert_id", "id")),
  "alert-in-data": variant("An alert is in the envelope, as `data`.").by(alertBody(wrapAsData)),
  "alert-of-minute": variant("Alerts watch the minute.").by(() => ({ watchedWindow: () => "minute" })),
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
  "alert-never-fires": variant("An alert never fires.").by(() => ({ firesAlert: () => false }), ["ALR-3"]),
  "alert-fires-at-the-end": variant("An alert fires when no requests are left, regardless of its threshold.").by(
    () => ({
      firesAlert: (_threshold, { before, after }) => usedPercent(before) < 100 && usedPercent(after) >= 100,
    }),
    ["ALR-3"],
  ),
});
