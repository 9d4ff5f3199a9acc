import type { Alert } from "../behaviour/alerts.ts";
import type { WebhookRequest } from "../behaviour/webhooks.ts";
import { apiError, type ApiError } from "../api-error.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import { failed, ok, type RouteResult } from "./response.ts";
import type { RequestContext } from "./admission.ts";
import type { ServerState } from "./state.ts";
import { validateAgent } from "./execution.ts";

/** Endpoint 6: creates a webhook that belongs to the key that asks. */
export function createWebhook(state: ServerState, context: RequestContext, body: unknown): RouteResult {
  const { behaviour, outbox } = state;
  const { key, deferredError } = context;
  const wish = behaviour.readWebhookRequest(body);
  const found = behaviour.validateWebhook(body, (url) => outbox.addressRefusal(url));
  const refused = found ?? reachTrouble(state, context, wish) ?? deferredError;
  if (refused !== null || key === null) return failed(refused ?? apiError("missing-key", "A key is required."));
  return ok(behaviour.webhookBody(outbox.add({ ...wish, headers: {}, owner: key.name })));
}

/** A webhook tells of agents, so it reaches no further than the key that creates it. */
function reachTrouble(
  { agents, behaviour }: ServerState,
  { key, operation }: RequestContext,
  { agentId }: WebhookRequest,
): ApiError | null {
  // Where the request came from was judged when it came; no agent has the empty id.
  const wish = { operation, agentId: agentId ?? "", address: "" };
  if (key !== null && !behaviour.permits({ ...key, allowedIps: null }, wish))
    return apiError("forbidden", "This key may create webhooks for its own agents only: name one of them as agent_id.");
  return agentId === null ? null : validateAgent(agents, agentId);
}

/** Endpoint 7: what was delivered to a webhook, the newest first. */
export function listDeliveries(state: ServerState, context: RequestContext, id: string): RouteResult {
  return ofWebhook(state, context, id, (webhook) =>
    state.behaviour.deliveriesBody(webhook, state.outbox.deliveriesOf(id)),
  );
}

/** The metrics record of a webhook. Source: Resources, "Webhook metrics". */
export function webhookMetrics(state: ServerState, context: RequestContext, id: string): RouteResult {
  return ofWebhook(state, context, id, (webhook) => state.behaviour.metricsBody(webhook, state.outbox.metricsOf(id)));
}

/** A webhook of another key is as good as none. */
function ofWebhook(
  { outbox }: ServerState,
  { key, deferredError }: RequestContext,
  id: string,
  read: (webhook: Webhook) => unknown,
): RouteResult {
  if (deferredError !== null) return failed(deferredError);
  const webhook = outbox.find(id);
  return webhook === undefined || webhook.owner !== key?.name
    ? failed(apiError("webhook-not-found", "No webhook has this id."))
    : ok(read(webhook));
}

/** Endpoint 8: creates a usage alert for the key that asks. */
export function createAlert(state: ServerState, { key, deferredError }: RequestContext, body: unknown): RouteResult {
  const { alerts, behaviour, clock, outbox } = state;
  const refused = behaviour.validateAlert(body, (url) => outbox.addressRefusal(url)) ?? deferredError;
  if (refused !== null || key === null) return failed(refused ?? apiError("missing-key", "A key is required."));
  const id = behaviour.alertId(alerts.count + 1);
  const alert: Alert = { id, owner: key.name, ...behaviour.readAlertRequest(body), createdMs: clock.now() };
  alerts.add(alert);
  return ok(behaviour.alertBody(alert));
}
