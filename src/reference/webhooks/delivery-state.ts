import type { DeliveryBehaviour, DeliveryProgress } from "../behaviour/deliveries.ts";
import type { Delivery, Message, DeliveryTotals } from "./store.ts";
import type { DeliveryAttempt, DeliveryRecord, WebhookMetrics } from "./webhook.ts";

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
