import { getPath } from "../../base/json.ts";
import { usedPercent } from "../behaviour/alerts.ts";
import { overrideJson, overrideSuccessStatus } from "../overrides.ts";
import { setField } from "../json-edit.ts";
import { fault, faults } from "../patch.ts";
import { fieldError, apiError } from "../api-error.ts";

const metricsBody = overrideJson("metricsBody");

const crash = apiError("crash", "The server failed.");

export const webhookFaults = faults("Endpoints / 6. Create a webhook", {
  "webhook-with-secret-refused": fault("WHK-1", "A webhook with a secret is refused.").by((base) => ({
    validateWebhook: (body, refusedAddress) =>
      getPath(body, "secret") === undefined
        ? base.validateWebhook(body, refusedAddress)
        : fieldError("invalid-input", "secret", "is not supported"),
  })),
  "webhook-of-several-events-refused": fault("WHK-1", "A webhook of more than one event type is refused.").by(
    (base) => ({
      validateWebhook: (body, refusedAddress) => {
        const events = getPath(body, "events");
        return Array.isArray(events) && events.length > 1
          ? fieldError("invalid-input", "events", "must have one entry")
          : base.validateWebhook(body, refusedAddress);
      },
    }),
  ),
  "webhook-url-number-crashes": fault("WHK-2", "A `url` that is a number responds with 500.").by((base) => ({
    validateWebhook: (body, refusedAddress) =>
      typeof getPath(body, "url") === "number" ? crash : base.validateWebhook(body, refusedAddress),
  })),
  "webhook-events-text-crashes": fault("WHK-2", "`events` that is a text responds with 500.").by((base) => ({
    validateWebhook: (body, refusedAddress) =>
      typeof getPath(body, "events") === "string" ? crash : base.validateWebhook(body, refusedAddress),
  })),
  "agent-of-webhook-ignored": fault("WHK-3", "A webhook gets the events of every agent.").by(() => ({
    selectsAgent: () => true,
  })),
});

export const deliveryListFaults = faults("Endpoints / 7. List webhook deliveries", {
  "deliveries-not-listed": fault("WHK-7", "There is no list of deliveries.").by(() => ({
    servedPath: (path) => path.replace(/^(\/v1\/webhooks\/[^/]+)\/deliveries/, "$1/nothing"),
  })),
  "deliveries-202": fault("WHK-7", "The list of deliveries responds with 202.").by(
    overrideSuccessStatus("listDeliveries", 202),
  ),
});

export const metricsFaults = faults("Resources / Webhook metrics", {
  "metrics-counts-as-text": fault("WHK-9", "`total_deliveries` is a text.").by(
    metricsBody.change("total_deliveries", String),
  ),
  "metrics-successful-as-share": fault("WHK-9", "`successful` is a share.").by(
    metricsBody.change("successful", () => 0.995),
  ),
  "metrics-without-failed": fault("WHK-9", "`failed` is missing.").by(metricsBody.remove("failed")),
  "metrics-id-number": fault("WHK-9", "`webhook_id` of the metrics is a number.").by(
    metricsBody.change("webhook_id", (id) => Number(String(id).replace(/\D/g, ""))),
  ),
  "metrics-average-with-unit": fault("WHK-9", "`average_response_time` is a text with its unit.").by(
    metricsBody.change("average_response_time", (value) => `${String(value)}ms`),
  ),
  "metrics-last-in-seconds": fault("WHK-9", "`last_delivery` is a number.").by(
    metricsBody.change("last_delivery", (time) => Date.parse(String(time)) / 1000),
  ),
  "metrics-total-too-high": fault("WHK-11", "`total_deliveries` counts more than what ended.").by(
    metricsBody.change("total_deliveries", (total) => Number(total) + 1),
  ),
  "metrics-only-failures": fault("WHK-11", "`total_deliveries` counts only failed deliveries.").by(
    metricsBody((body) => setField(body, "total_deliveries", getPath(body, "failed"))),
  ),
});

export const alertFaults = faults("Endpoints / 8. Create a usage alert", {
  "alert-refused": fault("ALR-1", "Every alert is refused.").by(() => ({
    validateAlert: () => fieldError("invalid-input", "type", "is not supported"),
  })),
  "alert-missing": fault("ALR-1", "There are no alerts.").by(() => ({
    servedPath: (path) => path.replace(/^\/v1\/alerts/, "/v1/nothing"),
  })),
  "alert-threshold-as-fraction": fault(
    "ALR-3",
    "The threshold is compared with hundred times the percentage that was used.",
  ).by(() => ({
    firesAlert: (threshold, { before, after }) =>
      usedPercent(before) < threshold * 100 && usedPercent(after) >= threshold * 100,
  })),
});
