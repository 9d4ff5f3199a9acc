import type { Alert } from "../behaviour/alerts.ts";
import type { WebhookRequest } from "../behaviour/webhooks.ts";
import { apiError, type ApiError } from "../api-error.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import { failed, ok, type RouteResult } from "./response.ts";
import type { RequestContext } from "./admission.ts";
import { validateAgent } from "./execution.ts";

/** Handles `POST /webhooks`: creates a webhook that belongs to the key of the request. */
export function createWebhook(context: RequestContext, body: unknown): RouteResult {
  const { key, deferredError, state } = context;
  const { behaviour, outbox } = state;
  const request = behaviour.readWebhookRequest(body);
  const invalid = behaviour.validateWebhook(body, (url) => outbox.addressRefusal(url));
  const error = invalid ?? validateAgentAccess(context, request) ?? deferredError;
  if (error !== null || key === null) return failed(error ?? apiError("missing-key", "A key is required."));
  return ok(behaviour.webhookBody(outbox.add({ ...request, headers: {}, owner: key.name })));
}

/**
 * Returns an error if the key may not call the agents whose events the webhook would get, or if the webhook's agent is
 * unknown; otherwise `null`.
 */
function validateAgentAccess(
  { key, endpoint, state: { agents, behaviour } }: RequestContext,
  { agentId }: WebhookRequest,
): ApiError | null {
  // The empty id stands for all agents. No agent has it, so a key for some agents cannot create a webhook for all. The
  // client's address was already checked.
  const request = { endpoint, agentId: agentId ?? "", address: "", isSigned: false };
  if (key !== null && !behaviour.permits({ ...key, allowedIps: null }, request))
    return apiError("forbidden", "This key may create webhooks for its own agents only: name one of them as agent_id.");
  return agentId === null ? null : validateAgent(agents, agentId);
}

/** Handles `GET /webhooks/{webhook_id}/deliveries`: returns the deliveries of a webhook, newest first. */
export function listDeliveries(context: RequestContext, id: string): RouteResult {
  const { behaviour, outbox } = context.state;
  return forWebhook(context, id, (webhook) => behaviour.deliveriesBody(webhook, outbox.deliveriesOf(id)));
}

/** Returns the metrics of a webhook. Source: Resources, "Webhook metrics". */
export function webhookMetrics(context: RequestContext, id: string): RouteResult {
  const { behaviour, outbox } = context.state;
  return forWebhook(context, id, (webhook) => behaviour.metricsBody(webhook, outbox.metricsOf(id)));
}

/** Responds with the data of a webhook, or with an error if no webhook of the request's key has this id. */
function forWebhook(
  { key, deferredError, state }: RequestContext,
  id: string,
  respond: (webhook: Webhook) => unknown,
): RouteResult {
  if (deferredError !== null) return failed(deferredError);
  const webhook = state.outbox.find(id);
  return webhook === undefined || key === null || !state.behaviour.showsWebhook(webhook, key)
    ? failed(apiError("webhook-not-found", "No webhook has this id."))
    : ok(respond(webhook));
}

/** Handles `POST /alerts`: creates a usage alert for the key of the request. */
export function createAlert({ key, deferredError, state }: RequestContext, body: unknown): RouteResult {
  const { alerts, behaviour, clock, outbox } = state;
  const error = behaviour.validateAlert(body, (url) => outbox.addressRefusal(url)) ?? deferredError;
  if (error !== null || key === null) return failed(error ?? apiError("missing-key", "A key is required."));
  const id = behaviour.alertId(alerts.count + 1);
  const alert: Alert = { id, owner: key.name, ...behaviour.readAlertRequest(body), createdMs: clock.now() };
  alerts.add(alert);
  return ok(behaviour.alertBody(alert));
}
