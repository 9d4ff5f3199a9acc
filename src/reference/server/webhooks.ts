import type { Alert } from "../behaviour/alerting.ts";
import type { WebhookWish } from "../behaviour/webhooking.ts";
import { trouble, type Trouble } from "../trouble.ts";
import type { Webhook } from "../webhooks/webhook.ts";
import { failed, ok, type Answer } from "./answer.ts";
import type { Exchange } from "./exchange.ts";
import type { ServerState } from "./state.ts";
import { agentTrouble } from "./turn.ts";

/** Endpoint 6: creates a webhook that belongs to the key that asks. */
export function createWebhook(state: ServerState, exchange: Exchange, body: unknown): Answer {
  const { behaviour, outbox } = state;
  const { key, refusedLate } = exchange;
  const wish = behaviour.webhookWish(body);
  const found = behaviour.webhookTrouble(body, (url) => outbox.refusedAddress(url));
  const refused = found ?? reachTrouble(state, exchange, wish) ?? refusedLate;
  if (refused !== null || key === null) return failed(refused ?? trouble("missing-key", "A key is required."));
  return ok(behaviour.webhookBody(outbox.add({ ...wish, headers: {}, owner: key.name })));
}

/** A webhook tells of agents, so it reaches no further than the key that creates it. */
function reachTrouble(
  { agents, behaviour }: ServerState,
  { key, operation }: Exchange,
  { agentId }: WebhookWish,
): Trouble | null {
  // Where the request came from was judged when it came; no agent has the empty id.
  const wish = { operation, agentId: agentId ?? "", address: "" };
  if (key !== null && !behaviour.permits({ ...key, allowedIps: null }, wish))
    return trouble("forbidden", "This key may create webhooks for its own agents only: name one of them as agent_id.");
  return agentId === null ? null : agentTrouble(agents, agentId);
}

/** Endpoint 7: what was delivered to a webhook, the newest first. */
export function listDeliveries(state: ServerState, exchange: Exchange, id: string): Answer {
  return ofWebhook(state, exchange, id, (webhook) =>
    state.behaviour.deliveriesBody(webhook, state.outbox.deliveriesOf(id)),
  );
}

/** The metrics record of a webhook. Source: Resources, "Webhook metrics". */
export function webhookMetrics(state: ServerState, exchange: Exchange, id: string): Answer {
  return ofWebhook(state, exchange, id, (webhook) => state.behaviour.metricsBody(webhook, state.outbox.metricsOf(id)));
}

/** A webhook of another key is as good as none. */
function ofWebhook(
  { outbox }: ServerState,
  { key, refusedLate }: Exchange,
  id: string,
  read: (webhook: Webhook) => unknown,
): Answer {
  if (refusedLate !== null) return failed(refusedLate);
  const webhook = outbox.find(id);
  return webhook === undefined || webhook.owner !== key?.name
    ? failed(trouble("webhook-not-found", "No webhook has this id."))
    : ok(read(webhook));
}

/** Endpoint 8: creates a usage alert for the key that asks. */
export function createAlert(state: ServerState, { key, refusedLate }: Exchange, body: unknown): Answer {
  const { alerts, behaviour, clock, outbox } = state;
  const refused = behaviour.alertTrouble(body, (url) => outbox.refusedAddress(url)) ?? refusedLate;
  if (refused !== null || key === null) return failed(refused ?? trouble("missing-key", "A key is required."));
  const id = behaviour.alertId(alerts.count + 1);
  const alert: Alert = { id, owner: key.name, ...behaviour.alertWish(body), createdMs: clock.now() };
  alerts.add(alert);
  return ok(behaviour.alertBody(alert));
}
