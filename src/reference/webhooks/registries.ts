import type { DeliveryBehaviour, DeliveryProgress } from "../behaviour/deliveries.ts";
import type { Clock } from "../clock.ts";
import {
  type Delivery,
  type DeliveryAttempt,
  type DeliveryDestination,
  type DeliveryMessage,
  type DeliveryRecord,
  type DeliveryTotals,
  fileOwner,
  type HostingEvent,
  type NewWebhook,
  type Store,
  type StoredState,
  warnOnFailure,
  type Webhook,
  zeroTotals,
} from "./store.ts";

/** Maximum number of finished deliveries to keep for each webhook. */
const maxEnded = 1000;

export type DeliveryRegistry = ReturnType<typeof deliveryRegistry>;

/** Creates a registry of deliveries and the results of their attempts. It sends nothing itself. */
export function deliveryRegistry(
  clock: Clock,
  behaviour: DeliveryBehaviour,
  store: Store,
  stored: StoredState,
  webhooks: WebhookRegistry,
) {
  const numbers = { ...stored.numbers };
  const deliveries = deliveryMap(store, webhooks);
  for (const delivery of stored.deliveries) deliveries.put(delivery);
  const addDeliveries = (destinations: readonly DeliveryDestination[], message: DeliveryMessage, delayMs: number) => {
    const createdMs = clock.now();
    const created = destinations.map((to): Delivery => {
      numbers.deliveries += 1;
      const number = numbers.deliveries;
      return { number, to, message, createdMs, attempts: [], state: "pending", nextAttemptMs: createdMs + delayMs };
    });
    warnOnFailure(() => store.addDeliveries(created));
    for (const delivery of created) deliveries.put(delivery);
    return created;
  };
  const nextMessage = () => {
    numbers.messages += 1;
    return numbers.messages;
  };
  return {
    addEvent: (event: HostingEvent): readonly Delivery[] => {
      const chosen = webhooks.selecting(event);
      if (chosen.length === 0) return [];
      const { type, agentId, deploymentId } = event;
      const facts = { number: nextMessage(), type, createdMs: clock.now(), agentId, deploymentId };
      const message: DeliveryMessage = { kind: "event", ...facts, data: jsonCopy(event.data) };
      const destinations = chosen.map(({ webhook }) => destinationOf(webhook));
      return addDeliveries(destinations, message, behaviour.firstDelayMs());
    },
    addNotice: (to: DeliveryDestination, body: unknown) =>
      addDeliveries([to], { kind: "notice", number: nextMessage(), body: jsonCopy(body) }, 0),
    pending: () => deliveries.all().filter(({ nextAttemptMs }) => nextAttemptMs !== null),
    find: (number: number) => deliveries.find(number),
    endAttempt: (before: Delivery, attempt: DeliveryAttempt): Delivery => {
      const after = afterAttempt(behaviour, before, attempt);
      const subscriber = webhooks.find(after.to.webhookId);
      if (subscriber !== undefined) subscriber.totals = totalsAfterAttempt(subscriber.totals, before, after, attempt);
      warnOnFailure(() => store.endAttempt(after, subscriber?.totals ?? zeroTotals));
      deliveries.replace(after);
      return after;
    },
    recordsOf: (id: string): readonly DeliveryRecord[] =>
      (webhooks.find(id)?.deliveries ?? []).flatMap((number) => {
        const delivery = deliveries.find(number);
        return delivery === undefined ? [] : deliveryRecordsOf(behaviour, delivery);
      }),
  };
}

function deliveryMap(store: Store, webhooks: WebhookRegistry) {
  const byNumber = new Map<number, Delivery>();
  const drop = (number: number) => {
    byNumber.delete(number);
    warnOnFailure(() => store.dropDelivery(number));
  };
  const trim = (subscriber: RegisteredWebhook) => {
    if (subscriber.deliveries.length - subscriber.pendingCount <= maxEnded) return;
    const oldest = subscriber.deliveries.find((number) => byNumber.get(number)?.nextAttemptMs === null);
    if (oldest === undefined) return;
    subscriber.deliveries = subscriber.deliveries.filter((number) => number !== oldest);
    drop(oldest);
  };
  return {
    put: (delivery: Delivery) => {
      byNumber.set(delivery.number, delivery);
      const subscriber = webhooks.find(delivery.to.webhookId);
      subscriber?.deliveries.push(delivery.number);
      if (subscriber !== undefined && delivery.nextAttemptMs !== null) subscriber.pendingCount += 1;
    },
    /** Stores a delivery's state. Drops finished alerts, and a webhook's oldest finished delivery beyond `maxEnded`. */
    replace: (after: Delivery) => {
      byNumber.set(after.number, after);
      if (after.nextAttemptMs !== null) return;
      const subscriber = webhooks.find(after.to.webhookId);
      if (subscriber === undefined) return drop(after.number);
      subscriber.pendingCount -= 1;
      trim(subscriber);
    },
    find: (number: number) => byNumber.get(number),
    all: () => [...byNumber.values()],
  };
}

/** Copies a value through JSON. `null`, or a value that JSON cannot express, becomes an empty object. */
function jsonCopy(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value ?? {}));
  } catch {
    return {};
  }
}

function afterAttempt(behaviour: DeliveryBehaviour, before: Delivery, attempt: DeliveryAttempt): Delivery {
  const attempts = [...before.attempts, attempt];
  const progress: DeliveryProgress = {
    webhookId: before.to.webhookId,
    type: before.message.kind === "event" ? before.message.type : null,
    attemptCount: attempts.length,
    firstMs: attempts[0]?.atMs ?? attempt.atMs,
    lastMs: attempt.atMs,
    delivered: attempts.some(({ status }) => status !== null && behaviour.isDelivered(status)),
    status: attempt.status,
  };
  const nextAttemptMs = behaviour.nextAttemptMs(progress);
  const state = behaviour.stateAfter(progress, nextAttemptMs);
  const message = nextAttemptMs === null ? withoutContent(before.message) : before.message;
  return { ...before, attempts, nextAttemptMs, state, message };
}

/** Removes the content of a message that will not be sent again. This saves memory. */
function withoutContent(message: DeliveryMessage): DeliveryMessage {
  return message.kind === "event" ? { ...message, data: null } : { ...message, body: null };
}

function totalsAfterAttempt(
  totals: DeliveryTotals,
  before: Delivery,
  after: Delivery,
  attempt: DeliveryAttempt,
): DeliveryTotals {
  const { atMs, endedMs, status } = attempt;
  const hasBecome = (state: Delivery["state"]) => (before.state !== state && after.state === state ? 1 : 0);
  const answered = status === null ? 0 : 1;
  return {
    delivered: totals.delivered + hasBecome("delivered"),
    failed: totals.failed + hasBecome("failed"),
    answers: totals.answers + answered,
    answersMs: totals.answersMs + answered * (endedMs - atMs),
    lastAttemptMs: Math.max(atMs, totals.lastAttemptMs ?? atMs),
  };
}

export function deliveryId({ number }: Delivery): string {
  return `dlv_${String(number).padStart(6, "0")}`;
}

function deliveryRecordsOf(behaviour: DeliveryBehaviour, delivery: Delivery): readonly DeliveryRecord[] {
  const { to, message, state, attempts, nextAttemptMs, createdMs } = delivery;
  if (to.webhookId === null || message.kind !== "event") return [];
  const id = deliveryId(delivery);
  const eventId = behaviour.eventId(message.number, 1);
  return [{ id, eventId, type: message.type, state, attempts, nextAttemptMs, createdMs }];
}

interface RegisteredWebhook {
  readonly webhook: Webhook;
  isActive: boolean;
  totals: DeliveryTotals;
  deliveries: number[];
  pendingCount: number;
}

type WebhookRegistry = ReturnType<typeof webhookRegistry>;

export function webhookRegistry(clock: Clock, behaviour: DeliveryBehaviour, store: Store, stored: StoredState) {
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
    add: (wanted: NewWebhook): Webhook => {
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
    retire: (id: string) => {
      const existing = byId.get(id);
      if (existing === undefined) return;
      existing.isActive = false;
      put(webhookNumber(existing.webhook), existing);
    },
    find: (id: string | null) => (id === null ? undefined : byId.get(id)),
    active,
    selecting: ({ type, agentId }: HostingEvent) =>
      active().filter(
        ({ webhook, pendingCount: pending, totals }) =>
          behaviour.selectsType(webhook.events, type) &&
          behaviour.selectsAgent(webhook.agentId, agentId) &&
          behaviour.acceptsEvent({ url: webhook.url, pending, failed: totals.failed }),
      ),
  };
}

function destinationOf({ id, url, secret, headers }: Webhook): DeliveryDestination {
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
