import type { DeliveryBehaviour } from "../behaviour/deliveries.ts";
import type { Clock } from "../clock.ts";
import type { AddressGuard } from "./address-guard.ts";
import { deliveryRegistry, metricsOf } from "./delivery-registry.ts";
import { dispatcher, type ReceiverLocation } from "./dispatch.ts";
import { zeroTotals, type Destination, type Store } from "./store.ts";
import { webhookRegistry } from "./webhook-registry.ts";
import type { DeliveryRecord, HostingEvent, NewWebhook, Webhook, WebhookMetrics } from "./webhook.ts";

export type * from "./webhook.ts";

/** The delivering half of the server: what is raised here reaches its receivers, whatever they do. Nothing in it throws. */
export interface Outbox {
  /** One of a configuration file that is there already is not added twice. */
  add(webhook: NewWebhook): Webhook;
  /** No events from now on; what is pending is still delivered. */
  retire(id: string): void;
  find(id: string): Webhook | undefined;
  /** All that get events, in order of creation. */
  webhooks(): readonly Webhook[];
  /** Sends to every webhook that selects the event; returns at once. Where state is kept on disk, the event is there by then. */
  emit(event: HostingEvent): void;
  /** Sends a message that belongs to no webhook, in the same way. */
  notify(to: Pick<Destination, "url" | "secret">, body: unknown): void;
  /** In order of creation; of those that ended, the last thousand. */
  deliveriesOf(webhookId: string): readonly DeliveryRecord[];
  metricsOf(webhookId: string): WebhookMetrics;
  /** Why nothing is delivered to a URL, or `null`; what a name leads to is seen only when it is connected to. */
  addressRefusal(url: string): string | null;
  /** Resolves when no request is unanswered, at the latest after a short real time. */
  whenIdle(): Promise<void>;
  /** Ends what is under way without an outcome: where state is kept on disk, it is still due. */
  close(): Promise<void>;
}

/** What an outbox is made of. */
export interface OutboxSetup {
  readonly clock: Clock;
  readonly behaviour: DeliveryBehaviour;
  /** Whose content is taken up: what is overdue is sent at once. */
  readonly store: Store;
  readonly guard: AddressGuard;
  readonly receivers: ReceiverLocation;
}

export function outbox(parts: OutboxSetup): Outbox {
  const { clock, behaviour, store, guard } = parts;
  const kept = store.load();
  const webhooks = webhookRegistry(clock, behaviour, store, kept);
  const deliveries = deliveryRegistry(clock, behaviour, store, kept, webhooks);
  const post = dispatcher(clock, behaviour, guard, deliveries, parts.receivers);
  for (const delivery of deliveries.pending()) post.schedule(delivery);
  let closed = false;
  return {
    add: (webhook) => webhooks.add(webhook),
    retire: (id) => webhooks.retire(id),
    find: (id) => webhooks.find(id)?.webhook,
    webhooks: () => webhooks.active().map(({ webhook }) => webhook),
    emit: (event) => {
      for (const delivery of closed ? [] : deliveries.addEvent(event)) post.schedule(delivery);
    },
    notify: ({ url, secret }, body) => {
      const to = { webhookId: null, url, secret, headers: {} };
      for (const delivery of closed ? [] : deliveries.addNotice(to, body)) post.schedule(delivery);
    },
    deliveriesOf: (id) => deliveries.recordsOf(id),
    metricsOf: (id) => metricsOf(webhooks.find(id)?.totals ?? zeroTotals),
    addressRefusal: (url) => guard.addressRefusal(url),
    whenIdle: () => post.whenIdle(),
    close: async () => {
      if (closed) return;
      closed = true;
      await post.close();
      store.close();
    },
  };
}
