import { webhookEvents } from "../../spec/events-and-errors.ts";
import {
  fieldsWith,
  arraySchema,
  errorResponses,
  integerSchema,
  jsonResponse,
  nullableStringSchema,
  objectSchema,
  stringSchema,
  timeSchema,
} from "./openapi.ts";

const { badRequest, noAgent, tooLarge, limited } = errorResponses;

const url = {
  type: "string",
  format: "uri",
  description: "An http or https URL that the server may deliver to.",
};

const noWebhook = [404, "This key has no webhook of this id."] as const;

const params = objectSchema({ webhook_id: { type: "string", description: "Identifier of the webhook." } });

const webhook = objectSchema({
  webhook_id: stringSchema,
  url: stringSchema,
  events: arraySchema(stringSchema),
  agent_id: { ...nullableStringSchema, description: "The only agent whose events the webhook gets; null for all." },
  status: stringSchema,
  created_at: timeSchema,
});

const delivery = objectSchema({
  ...fieldsWith(stringSchema, "delivery_id", "event_id", "type"),
  status: { type: "string", enum: ["pending", "delivered", "failed"] },
  created_at: timeSchema,
  attempts: arraySchema(
    objectSchema({
      attempted_at: timeSchema,
      status_code: { type: ["integer", "null"], description: "null if no response came in time." },
      error: nullableStringSchema,
    }),
  ),
  next_attempt_at: { ...nullableStringSchema, format: "date-time" },
});

const metrics = objectSchema({
  webhook_id: stringSchema,
  ...fieldsWith(integerSchema, "total_deliveries", "successful", "failed"),
  average_response_time: { type: "number", description: "Milliseconds; 0 before the first response." },
  last_delivery: { ...timeSchema, description: "The time of the webhook's creation before the first delivery." },
});

const threshold = { type: "number", minimum: 0, maximum: 100, description: "Per cent of the hour's requests." };

const alert = objectSchema({
  alert_id: stringSchema,
  type: stringSchema,
  threshold,
  webhook_url: stringSchema,
  created_at: timeSchema,
});

/** Schemas of the webhook endpoints for the OpenAPI document. Functions of `Behaviour` validate the request bodies. */
export const webhookSchemas = {
  createWebhook: {
    summary: "Create a webhook",
    operationId: "createWebhook",
    body: objectSchema(
      {
        url,
        events: {
          type: "array",
          minItems: 1,
          items: { type: "string", enum: [...webhookEvents, "agent.*", "deployment.*"] },
        },
        agent_id: { type: "string", description: "The only agent whose events the webhook gets. Default: all." },
        secret: {
          type: "string",
          minLength: 1,
          description: "The secret that signs deliveries. Default: no signature.",
        },
      },
      ["url", "events"],
    ),
    response: jsonResponse("The webhook.", webhook, [badRequest, noAgent, tooLarge, limited], 201),
  },
  listDeliveries: {
    summary: "List the deliveries of a webhook",
    operationId: "listDeliveries",
    params,
    response: jsonResponse(
      "Its deliveries, the newest first.",
      objectSchema({ webhook_id: stringSchema, data: arraySchema(delivery) }),
      [noWebhook, limited],
    ),
  },
  webhookMetrics: {
    summary: "Read the metrics of a webhook",
    operationId: "webhookMetrics",
    params,
    response: jsonResponse("The metrics of its deliveries.", metrics, [noWebhook, limited]),
  },
  createAlert: {
    summary: "Create a usage alert",
    operationId: "createAlert",
    body: objectSchema({ type: { type: "string", enum: ["rate_limit"] }, threshold, webhook_url: url }),
    response: jsonResponse("The alert.", alert, [badRequest, tooLarge, limited], 201),
  },
};
