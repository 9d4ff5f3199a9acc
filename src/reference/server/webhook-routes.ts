import type { FastifyInstance } from "fastify";
import { createAlert } from "./alerts.ts";
import { control } from "./deployments.ts";
import { answer } from "./respond.ts";
import type { ServerState } from "./state.ts";
import { webhookSchemas } from "./webhook-schemas.ts";
import { createWebhook, listDeliveries, webhookMetrics } from "./webhooks.ts";

interface WebhookRoute {
  Params: { webhook_id: string };
}

/** Adds webhooks, alerts, and the call that changes deployments. Source: Endpoints 6 to 8. */
export function addWebhookRoutes(app: FastifyInstance, state: ServerState): void {
  const attachValidation = true;
  app.post(
    "/v1/webhooks",
    { schema: webhookSchemas.createWebhook, attachValidation, config: { operation: "createWebhook" } },
    (request, reply) => {
      if (request.inHand === null) return;
      answer(state, request, reply, createWebhook(state, request.inHand.exchange, request.body));
    },
  );
  app.get<WebhookRoute>(
    "/v1/webhooks/:webhook_id/deliveries",
    { schema: webhookSchemas.listDeliveries, config: { operation: "listDeliveries" } },
    (request, reply) => {
      if (request.inHand === null) return;
      answer(state, request, reply, listDeliveries(state, request.inHand.exchange, request.params.webhook_id));
    },
  );
  app.get<WebhookRoute>(
    "/v1/webhooks/:webhook_id/metrics",
    { schema: webhookSchemas.webhookMetrics, config: { operation: "webhookMetrics" } },
    (request, reply) => {
      if (request.inHand === null) return;
      answer(state, request, reply, webhookMetrics(state, request.inHand.exchange, request.params.webhook_id));
    },
  );
  app.post(
    "/v1/alerts",
    { schema: webhookSchemas.createAlert, attachValidation, config: { operation: "createAlert" } },
    (request, reply) => {
      if (request.inHand === null) return;
      answer(state, request, reply, createAlert(state, request.inHand.exchange, request.body));
    },
  );
  app.post("/control/deployments", { schema: { hide: true }, config: { operation: "control" } }, (request, reply) =>
    answer(state, request, reply, control(state, request.body)),
  );
}
