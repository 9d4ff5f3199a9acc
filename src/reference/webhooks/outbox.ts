import type { DeliveryBehaviour } from "../behaviour/deliveries.ts";
import type { Clock } from "../clock.ts";
import type { AddressGuard } from "./address-guard.ts";
import { deliveryRegistry, webhookRegistry } from "./registries.ts";
import { dispatcher, type ReceiverLocation } from "./dispatcher.ts";
import {
  zeroTotals,
  type DeliveryDestination,
  type Store,
  type DeliveryRecord,
  type DeliveryTotals,
  type HostingEvent,
  type NewWebhook,
  type Webhook,
} from "./store.ts";

/** The part of the server that sends deliveries: events to webhooks, and usage alerts. None of its methods throws. */
export interface Outbox {
  /** Adds a webhook. Activates the stored webhook instead if a configuration file names it again. */
  add(webhook: NewWebhook): Webhook;
  /** Sends no more events to a webhook. Pending deliveries are still sent. */
  retire(id: string): void;
  find(id: string): Webhook | undefined;
  webhooks(): readonly Webhook[];
  emit(event: HostingEvent): void;
  /** Sends a usage alert, which belongs to no webhook. */
  notify(to: Pick<DeliveryDestination, "url" | "secret">, body: unknown): void;
  /** Returns a webhook's deliveries: all pending ones, and the 1,000 newest of the finished ones. */
  deliveriesOf(webhookId: string): readonly DeliveryRecord[];
  totalsOf(webhookId: string): DeliveryTotals;
  /** Returns why the server refuses to deliver to a URL, or `null`. Does not resolve host names. */
  addressRefusal(url: string): string | null;
  /** Waits until each due delivery has a response, but for each at most about one second of real time. */
  whenIdle(): Promise<void>;
  /** Aborts all delivery requests. A server with a data folder sends them again when it next starts. */
  close(): Promise<void>;
}

interface OutboxSetup {
  readonly clock: Clock;
  readonly behaviour: DeliveryBehaviour;
  /** The store for webhooks and deliveries. At startup, the server schedules the pending deliveries in the store. */
  readonly store: Store;
  readonly guard: AddressGuard;
  readonly receivers: ReceiverLocation;
}

export function outbox(parts: OutboxSetup): Outbox {
  const { clock, behaviour, store, guard } = parts;
  const stored = store.load();
  const webhooks = webhookRegistry(clock, behaviour, store, stored);
  const deliveries = deliveryRegistry(clock, behaviour, store, stored, webhooks);
  const deliveryDispatcher = dispatcher(clock, behaviour, guard, deliveries, parts.receivers);
  for (const delivery of deliveries.pending()) deliveryDispatcher.schedule(delivery);
  let closed = false;
  return {
    add: (webhook) => webhooks.add(webhook),
    retire: (id) => webhooks.retire(id),
    find: (id) => webhooks.find(id)?.webhook,
    webhooks: () => webhooks.active().map(({ webhook }) => webhook),
    emit: (event) => {
      for (const delivery of closed ? [] : deliveries.addEvent(event)) deliveryDispatcher.schedule(delivery);
    },
    notify: ({ url, secret }, body) => {
      const to = { webhookId: null, url, secret, headers: {} };
      for (const delivery of closed ? [] : deliveries.addNotice(to, body)) deliveryDispatcher.schedule(delivery);
    },
    deliveriesOf: (id) => deliveries.recordsOf(id),
    totalsOf: (id) => webhooks.find(id)?.totals ?? zeroTotals,
    addressRefusal: (url) => guard.addressRefusal(url),
    whenIdle: () => deliveryDispatcher.whenIdle(),
    close: async () => {
      if (closed) return;
      closed = true;
      await deliveryDispatcher.close();
      store.close();
    },
  };
}
