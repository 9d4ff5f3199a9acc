import type { DeliveryBehaviour, DeliveryProgress } from "../behaviour/deliveries.ts";
import type { Clock } from "../clock.ts";
import {
  zeroTotals,
  warnOnFailure,
  type Delivery,
  type Destination,
  type StoredState,
  type Message,
  type Store,
  type DeliveryTotals,
} from "./store.ts";
import { destinationOf, type RegisteredWebhook, type WebhookRegistry } from "./webhook-registry.ts";
import type { DeliveryAttempt, DeliveryRecord, HostingEvent, WebhookMetrics } from "./webhook.ts";

/** Every delivery, and what follows from its attempts. Sends nothing. */
export interface DeliveryRegistry {
  /** A new delivery for each webhook that gets the event. */
  addEvent(event: HostingEvent): readonly Delivery[];
  addNotice(to: Destination, body: unknown): readonly Delivery[];
  /** Deliveries with an attempt to come. */
  pending(): readonly Delivery[];
  find(number: number): Delivery | undefined;
  /** The delivery as it stands after one more attempt. */
  endAttempt(before: Delivery, attempt: DeliveryAttempt): Delivery;
  recordsOf(webhookId: string): readonly DeliveryRecord[];
}

/** How many deliveries without an attempt to come are kept of one webhook. */
const mostEnded = 1000;

export function deliveryRegistry(
  clock: Clock,
  behaviour: DeliveryBehaviour,
  store: Store,
  kept: StoredState,
  webhooks: WebhookRegistry,
): DeliveryRegistry {
  const numbers = { ...kept.numbers };
  const deliveries = shelf(store, webhooks);
  for (const delivery of kept.deliveries) deliveries.put(delivery);
  const enter = (destinations: readonly Destination[], message: Message, delayMs: number) => {
    const createdMs = clock.now();
    const made = destinations.map((to): Delivery => {
      numbers.deliveries += 1;
      const number = numbers.deliveries;
      return { number, to, message, createdMs, attempts: [], state: "pending", nextAttemptMs: createdMs + delayMs };
    });
    warnOnFailure(() => store.addDeliveries(made));
    for (const delivery of made) deliveries.put(delivery);
    return made;
  };
  const nextMessage = () => {
    numbers.messages += 1;
    return numbers.messages;
  };
  return {
    addEvent: (event) => {
      const chosen = webhooks.selecting(event);
      if (chosen.length === 0) return [];
      const { type, agentId, deploymentId } = event;
      const facts = { number: nextMessage(), type, createdMs: clock.now(), agentId, deploymentId };
      const message: Message = { kind: "event", ...facts, data: plain(event.data) };
      const destinations = chosen.map(({ webhook }) => destinationOf(webhook));
      return enter(destinations, message, behaviour.firstDelayMs());
    },
    addNotice: (to, body) => enter([to], { kind: "notice", number: nextMessage(), body: plain(body) }, 0),
    pending: () => deliveries.all().filter(({ nextAttemptMs }) => nextAttemptMs !== null),
    find: (number) => deliveries.find(number),
    endAttempt: (before, attempt) => {
      const after = afterAttempt(behaviour, before, attempt);
      const subscriber = webhooks.find(after.to.webhookId);
      if (subscriber !== undefined) subscriber.totals = totalsAfterAttempt(subscriber.totals, before, after, attempt);
      warnOnFailure(() => store.endAttempt(after, subscriber?.totals ?? zeroTotals));
      deliveries.replace(after);
      return after;
    },
    recordsOf: (id) =>
      (webhooks.find(id)?.deliveries ?? []).flatMap((number) => {
        const delivery = deliveries.find(number);
        return delivery === undefined ? [] : deliveryRecordsOf(behaviour, delivery);
      }),
  };
}

/** The deliveries that are kept. */
interface Shelf {
  put(delivery: Delivery): void;
  /** Puts a later state of one in its place; where no attempt follows, it may be dropped. */
  replace(after: Delivery): void;
  find(number: number): Delivery | undefined;
  all(): readonly Delivery[];
}

function shelf(store: Store, webhooks: WebhookRegistry): Shelf {
  const byNumber = new Map<number, Delivery>();
  const drop = (number: number) => {
    byNumber.delete(number);
    warnOnFailure(() => store.dropDelivery(number));
  };
  const trim = (subscriber: RegisteredWebhook) => {
    if (subscriber.deliveries.length - subscriber.pendingCount <= mostEnded) return;
    const oldest = subscriber.deliveries.find((number) => byNumber.get(number)?.nextAttemptMs === null);
    if (oldest === undefined) return;
    subscriber.deliveries = subscriber.deliveries.filter((number) => number !== oldest);
    drop(oldest);
  };
  return {
    put: (delivery) => {
      byNumber.set(delivery.number, delivery);
      const subscriber = webhooks.find(delivery.to.webhookId);
      subscriber?.deliveries.push(delivery.number);
      if (subscriber !== undefined && delivery.nextAttemptMs !== null) subscriber.pendingCount += 1;
    },
    replace: (after) => {
      byNumber.set(after.number, after);
      if (after.nextAttemptMs !== null) return;
      const subscriber = webhooks.find(after.to.webhookId);
      if (subscriber === undefined) return drop(after.number);
      subscriber.pendingCount -= 1;
      trim(subscriber);
    },
    find: (number) => byNumber.get(number),
    all: () => [...byNumber.values()],
  };
}

/** A copy that no later change of the original reaches; an empty object where it cannot be written as JSON. */
function plain(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value ?? {}));
  } catch {
    return {};
  }
}

/** A delivery after one more attempt. */
export function afterAttempt(behaviour: DeliveryBehaviour, before: Delivery, attempt: DeliveryAttempt): Delivery {
  const attempts = [...before.attempts, attempt];
  const progress: DeliveryProgress = {
    attemptCount: attempts.length,
    firstMs: attempts[0]?.atMs ?? attempt.atMs,
    lastMs: attempt.atMs,
    delivered: attempts.some(({ status }) => status !== null && behaviour.isDelivered(status)),
    status: attempt.status,
  };
  const nextAttemptMs = behaviour.nextAttemptMs(progress);
  const state = behaviour.stateAfter(progress, nextAttemptMs);
  const message = nextAttemptMs === null ? emptied(before.message) : before.message;
  return { ...before, attempts, nextAttemptMs, state, message };
}

/** A message that is not sent again needs no content. */
function emptied(message: Message): Message {
  return message.kind === "event" ? { ...message, data: null } : { ...message, body: null };
}

/** The tally of a webhook after an attempt took one of its deliveries from `before` to `after`. */
export function totalsAfterAttempt(
  tally: DeliveryTotals,
  before: Delivery,
  after: Delivery,
  attempt: DeliveryAttempt,
): DeliveryTotals {
  const { atMs, endedMs, status } = attempt;
  const became = (state: Delivery["state"]) => (before.state !== state && after.state === state ? 1 : 0);
  const answered = status === null ? 0 : 1;
  return {
    delivered: tally.delivered + became("delivered"),
    failed: tally.failed + became("failed"),
    answers: tally.answers + answered,
    answersMs: tally.answersMs + answered * (endedMs - atMs),
    lastAttemptMs: Math.max(atMs, tally.lastAttemptMs ?? atMs),
  };
}

export function deliveryId({ number }: Delivery): string {
  return `dlv_${String(number).padStart(6, "0")}`;
}

/** What is told of a delivery of a webhook; nothing of a message that is no event. */
export function deliveryRecordsOf(behaviour: DeliveryBehaviour, delivery: Delivery): readonly DeliveryRecord[] {
  const { to, message, state, attempts, nextAttemptMs, createdMs } = delivery;
  if (to.webhookId === null || message.kind !== "event") return [];
  const id = deliveryId(delivery);
  const eventId = behaviour.eventId(message.number, 1);
  return [{ id, webhookId: to.webhookId, eventId, type: message.type, state, attempts, nextAttemptMs, createdMs }];
}

export function metricsOf({ delivered, failed, answers, answersMs, lastAttemptMs }: DeliveryTotals): WebhookMetrics {
  return {
    totalDeliveries: delivered + failed,
    successful: delivered,
    failed,
    averageResponseMs: answers === 0 ? null : answersMs / answers,
    lastDeliveryMs: lastAttemptMs,
  };
}
