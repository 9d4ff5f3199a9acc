import { webhookEvents } from "../../spec/events.ts";
import { array, errors, integer, json, nullableString, object, responses, string, time } from "./openapi.ts";

const { badRequest, noAgent, tooLarge, limited } = errors;

const url = {
  type: "string",
  format: "uri",
  description: "An http or https URL that the server may deliver to.",
};

const noWebhook = [404, "This key has no webhook of this id."] as const;

const params = object({ webhook_id: { type: "string", description: "Identifier of the webhook." } });

const webhook = object({
  webhook_id: string,
  url: string,
  events: array(string),
  agent_id: { ...nullableString, description: "The only agent whose events the webhook gets; null for all." },
  status: string,
  created_at: time,
});

const delivery = object({
  delivery_id: string,
  event_id: string,
  type: string,
  status: { type: "string", enum: ["pending", "delivered", "failed"] },
  created_at: time,
  attempts: array(
    object({
      attempted_at: time,
      status_code: { type: ["integer", "null"], description: "null if no response came in time." },
      error: nullableString,
    }),
  ),
  next_attempt_at: { ...nullableString, format: "date-time" },
});

const metrics = object({
  webhook_id: string,
  total_deliveries: integer,
  successful: integer,
  failed: integer,
  average_response_time: { type: "number", description: "Milliseconds; 0 before the first response." },
  last_delivery: { ...time, description: "The time of the webhook's creation before the first delivery." },
});

const threshold = { type: "number", minimum: 0, maximum: 100, description: "Per cent of the hour's requests." };

const alert = object({ alert_id: string, type: string, threshold, webhook_url: string, created_at: time });

/**
 * Schemas of the routes of webhooks and alerts. They only describe the request bodies: functions of `Behaviour`
 * validate these.
 */
export const webhookSchemas = {
  createWebhook: {
    summary: "Create a webhook",
    operationId: "createWebhook",
    body: object(
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
    response: responses("The webhook.", { [json]: webhook }, [badRequest, noAgent, tooLarge, limited], 201),
  },
  listDeliveries: {
    summary: "List the deliveries of a webhook",
    operationId: "listDeliveries",
    params,
    response: responses(
      "Its deliveries, the newest first.",
      { [json]: object({ webhook_id: string, data: array(delivery) }) },
      [noWebhook, limited],
    ),
  },
  webhookMetrics: {
    summary: "Read the metrics of a webhook",
    operationId: "webhookMetrics",
    params,
    response: responses("The metrics of its deliveries.", { [json]: metrics }, [noWebhook, limited]),
  },
  createAlert: {
    summary: "Create a usage alert",
    operationId: "createAlert",
    body: object({ type: { type: "string", enum: ["rate_limit"] }, threshold, webhook_url: url }),
    response: responses("The alert.", { [json]: alert }, [badRequest, tooLarge, limited], 201),
  },
};
