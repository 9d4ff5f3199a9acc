import { webhookEvents } from "../../spec/events.ts";
import { responseSchemas, badRequest, limited, refusals, tooLarge } from "./agent-schemas.ts";

const string = { type: "string" } as const;
const integer = { type: "integer" } as const;
const url = {
  type: "string",
  format: "uri",
  description: "An address of http or https that may be delivered to.",
} as const;
const time = { type: "string", format: "date-time" } as const;
const json = "application/json";

const events = {
  type: "array",
  minItems: 1,
  items: { type: "string", enum: [...webhookEvents, "agent.*", "deployment.*"] },
} as const;
const noAgent = [404, "No agent has this id."] as const;
const noWebhook = [404, "This key has no webhook of this id."] as const;

const webhookParams = {
  type: "object",
  properties: { webhook_id: { type: "string", description: "Identifier of the webhook." } },
  required: ["webhook_id"],
} as const;

const webhook = {
  type: "object",
  properties: {
    webhook_id: string,
    url: string,
    events: { type: "array", items: string },
    agent_id: { type: ["string", "null"], description: "The only agent that it tells of; null for all." },
    status: string,
    created_at: time,
  },
  required: ["webhook_id", "url", "events", "agent_id", "status", "created_at"],
} as const;

const attempt = {
  type: "object",
  properties: {
    attempted_at: time,
    status_code: { type: ["integer", "null"], description: "null where no answer came in time." },
    error: { type: ["string", "null"] },
  },
  required: ["attempted_at", "status_code", "error"],
} as const;

const delivery = {
  type: "object",
  properties: {
    delivery_id: string,
    event_id: string,
    type: string,
    status: { type: "string", enum: ["pending", "delivered", "failed"] },
    created_at: time,
    attempts: { type: "array", items: attempt },
    next_attempt_at: { type: ["string", "null"], format: "date-time" },
  },
  required: ["delivery_id", "event_id", "type", "status", "created_at", "attempts", "next_attempt_at"],
} as const;

const deliveries = {
  type: "object",
  properties: { webhook_id: string, data: { type: "array", items: delivery } },
  required: ["webhook_id", "data"],
} as const;

const metrics = {
  type: "object",
  properties: {
    webhook_id: string,
    total_deliveries: integer,
    successful: integer,
    failed: integer,
    average_response_time: { type: "number", description: "Milliseconds; 0 before the first answer." },
    last_delivery: { ...time, description: "Before the first delivery, when the webhook was created." },
  },
  required: ["webhook_id", "total_deliveries", "successful", "failed", "average_response_time", "last_delivery"],
} as const;

const threshold = {
  type: "number",
  minimum: 0,
  maximum: 100,
  description: "Per cent of the hour's requests.",
} as const;

const alert = {
  type: "object",
  properties: { alert_id: string, type: string, threshold, webhook_url: string, created_at: time },
  required: ["alert_id", "type", "threshold", "webhook_url", "created_at"],
} as const;

/** Schemas of the routes of webhooks and alerts. The behaviour validates the bodies, not the schemas. */
export const webhookSchemas = {
  createWebhook: {
    summary: "Create a webhook",
    operationId: "createWebhook",
    body: {
      type: "object",
      properties: {
        url,
        events,
        agent_id: { type: "string", description: "The only agent to tell of. Default: all." },
        secret: {
          type: "string",
          minLength: 1,
          description: "What deliveries are signed with. Default: they are not.",
        },
      },
      required: ["url", "events"],
    },
    response: responseSchemas(
      "The webhook.",
      json,
      webhook,
      [badRequest, ...refusals, noAgent, tooLarge, limited],
      201,
    ),
  },
  listDeliveries: {
    summary: "List the deliveries of a webhook",
    operationId: "listDeliveries",
    params: webhookParams,
    response: responseSchemas("Its deliveries, the newest first.", json, deliveries, [...refusals, noWebhook, limited]),
  },
  webhookMetrics: {
    summary: "Read the metrics of a webhook",
    operationId: "webhookMetrics",
    params: webhookParams,
    response: responseSchemas("What became of its deliveries.", json, metrics, [...refusals, noWebhook, limited]),
  },
  createAlert: {
    summary: "Create a usage alert",
    operationId: "createAlert",
    body: {
      type: "object",
      properties: { type: { type: "string", enum: ["rate_limit"] }, threshold, webhook_url: url },
      required: ["type", "threshold", "webhook_url"],
    },
    response: responseSchemas("The alert.", json, alert, [badRequest, ...refusals, tooLarge, limited], 201),
  },
};
