import { member } from "../../base/json.ts";
import { percentOf } from "../behaviour/alerting.ts";
import { editing, succeeding } from "../changes.ts";
import { changed, set, without } from "../edit.ts";
import { faults } from "../patch.ts";
import { fieldTrouble, trouble } from "../trouble.ts";

const metrics = editing("metricsBody");

const crash = trouble("crash", "The server failed.");

export const webhookFaults = faults("Endpoints / 6. Create a webhook", {
  "webhook-with-secret-refused": [
    ["WHK-1"],
    "A webhook with a secret is refused.",
    (base) => ({
      webhookTrouble: (body, refusedAddress) =>
        member(body, "secret") === undefined
          ? base.webhookTrouble(body, refusedAddress)
          : fieldTrouble("invalid-input", "secret", "is not supported"),
    }),
  ],
  "webhook-of-several-events-refused": [
    ["WHK-1"],
    "A webhook of more than one event type is refused.",
    (base) => ({
      webhookTrouble: (body, refusedAddress) => {
        const events = member(body, "events");
        return Array.isArray(events) && events.length > 1
          ? fieldTrouble("invalid-input", "events", "must have one entry")
          : base.webhookTrouble(body, refusedAddress);
      },
    }),
  ],
  "webhook-url-number-crashes": [
    ["WHK-2"],
    "A `url` that is a number answers 500.",
    (base) => ({
      webhookTrouble: (body, refusedAddress) =>
        typeof member(body, "url") === "number" ? crash : base.webhookTrouble(body, refusedAddress),
    }),
  ],
  "webhook-events-text-crashes": [
    ["WHK-2"],
    "`events` that is a text answers 500.",
    (base) => ({
      webhookTrouble: (body, refusedAddress) =>
        typeof member(body, "events") === "string" ? crash : base.webhookTrouble(body, refusedAddress),
    }),
  ],
  "agent-of-webhook-ignored": [
    ["WHK-3"],
    "A webhook gets the events of every agent.",
    () => ({ selectsAgent: () => true }),
  ],
});

export const deliveryListFaults = faults("Endpoints / 7. List webhook deliveries", {
  "deliveries-not-listed": [
    ["WHK-7"],
    "There is no list of deliveries.",
    () => ({ servedPath: (path) => path.replace(/^(\/v1\/webhooks\/[^/]+)\/deliveries/, "$1/nothing") }),
  ],
  "deliveries-202": [["WHK-7"], "The list of deliveries answers 202.", succeeding("listDeliveries", 202)],
});

export const metricsFaults = faults("Resources / Webhook metrics", {
  "metrics-counts-as-text": [
    ["WHK-9"],
    "`total_deliveries` is a text.",
    metrics((body) => changed(body, "total_deliveries", String)),
  ],
  "metrics-successful-as-share": [
    ["WHK-9"],
    "`successful` is a share.",
    metrics((body) => changed(body, "successful", () => 0.995)),
  ],
  "metrics-without-failed": [["WHK-9"], "`failed` is missing.", metrics((body) => without(body, "failed"))],
  "metrics-id-number": [
    ["WHK-9"],
    "`webhook_id` of the metrics is a number.",
    metrics((body) => changed(body, "webhook_id", (id) => Number(String(id).replace(/\D/g, "")))),
  ],
  "metrics-average-with-unit": [
    ["WHK-9"],
    "`average_response_time` is a text with its unit.",
    metrics((body) => changed(body, "average_response_time", (value) => `${String(value)}ms`)),
  ],
  "metrics-last-in-seconds": [
    ["WHK-9"],
    "`last_delivery` is a number.",
    metrics((body) => changed(body, "last_delivery", (time) => Date.parse(String(time)) / 1000)),
  ],
  "metrics-total-too-high": [
    ["WHK-11"],
    "`total_deliveries` counts more than what ended.",
    metrics((body) => changed(body, "total_deliveries", (total) => Number(total) + 1)),
  ],
  "metrics-only-failures": [
    ["WHK-11"],
    "`total_deliveries` counts the failed ones only.",
    metrics((body) => set(body, "total_deliveries", member(body, "failed"))),
  ],
});

export const alertFaults = faults("Endpoints / 8. Create a usage alert", {
  "alert-refused": [
    ["ALR-1"],
    "Every alert is refused.",
    () => ({ alertTrouble: () => fieldTrouble("invalid-input", "type", "is not supported") }),
  ],
  "alert-missing": [
    ["ALR-1"],
    "There are no alerts.",
    () => ({ servedPath: (path) => path.replace(/^\/v1\/alerts/, "/v1/nothing") }),
  ],
  "alert-threshold-as-fraction": [
    ["ALR-3"],
    "The threshold is compared with hundred times the percentage that was used.",
    () => ({
      firesAlert: (threshold, { before, after }) =>
        percentOf(before) < threshold * 100 && percentOf(after) >= threshold * 100,
    }),
  ],
});
