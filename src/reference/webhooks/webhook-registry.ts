import type { DeliveryBehaviour } from "../behaviour/deliveries.ts";
import type { Clock } from "../clock.ts";
import {
  zeroTotals,
  warnOnFailure,
  type DeliveryDestination,
  type StoredState,
  type Store,
  type DeliveryTotals,
  fileOwner,
  type HostingEvent,
  type NewWebhook,
  type Webhook,
} from "./store.ts";

export interface RegisteredWebhook {
  readonly webhook: Webhook;
  isActive: boolean;
  totals: DeliveryTotals;
  deliveries: number[];
  pendingCount: number;
}

export interface WebhookRegistry {
  add(webhook: NewWebhook): Webhook;
  retire(id: string): void;
  find(id: string | null): RegisteredWebhook | undefined;
  active(): readonly RegisteredWebhook[];
  selecting(event: HostingEvent): readonly RegisteredWebhook[];
}

export function webhookRegistry(
  clock: Clock,
  behaviour: DeliveryBehaviour,
  store: Store,
  stored: StoredState,
): WebhookRegistry {
  const byId = new Map<string, RegisteredWebhook>();
  let count = stored.numbers.webhooks;
  const put = (number: number, subscriber: RegisteredWebhook) => {
    byId.set(subscriber.webhook.id, subscriber);
    warnOnFailure(() => store.putWebhook(number, subscriber));
    return subscriber.webhook;
  };
  const active = () => [...byId.values()].filter(({ isActive }) => isActive);
  for (const { webhook, isActive, totals } of stored.webhooks) {
    // A webhook from a configuration file stays inactive until the server reads the file again.
    const isStillActive = isActive && webhook.owner !== fileOwner;
    byId.set(webhook.id, { webhook, isActive: isStillActive, totals, deliveries: [], pendingCount: 0 });
  }
  return {
    add: (wanted) => {
      const existing =
        wanted.owner === fileOwner ? [...byId.values()].find(({ webhook }) => isSameWebhook(webhook, wanted)) : null;
      if (existing !== null && existing !== undefined) {
        existing.isActive = true;
        return put(webhookNumber(existing.webhook), existing);
      }
      count += 1;
      const webhook = { ...wanted, id: `wh_${String(count).padStart(6, "0")}`, createdMs: clock.now() };
      return put(count, { webhook, isActive: true, totals: zeroTotals, deliveries: [], pendingCount: 0 });
    },
    retire: (id) => {
      const existing = byId.get(id);
      if (existing === undefined) return;
      existing.isActive = false;
      put(webhookNumber(existing.webhook), existing);
    },
    find: (id) => (id === null ? undefined : byId.get(id)),
    active,
    selecting: ({ type, agentId }) =>
      active().filter(
        ({ webhook, pendingCount: pending, totals }) =>
          behaviour.selectsType(webhook.events, type) &&
          behaviour.selectsAgent(webhook.agentId, agentId) &&
          behaviour.acceptsEvent({ url: webhook.url, pending, failed: totals.failed }),
      ),
  };
}

export function destinationOf({ id, url, secret, headers }: Webhook): DeliveryDestination {
  return { webhookId: id, url, secret, headers };
}

function webhookNumber({ id }: Webhook): number {
  return Number(id.slice(id.indexOf("_") + 1));
}

function isSameWebhook(one: NewWebhook, other: NewWebhook): boolean {
  const text = ({ url, events, agentId, secret, headers, owner }: NewWebhook) =>
    JSON.stringify([url, events, agentId, secret, headers, owner]);
  return text(one) === text(other);
}
