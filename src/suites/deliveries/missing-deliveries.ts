import type { Delivery } from "../../evidence/delivery.ts";
import { type WebhookEvent, webhookEvents } from "../../spec/events.ts";
import { type Unproven, unproven } from "../../run/judge/finding.ts";
import type { AllDeliveries } from "./probes.ts";
import { eventTypeOf } from "./event.ts";
import { isSuccess, outcomeOf } from "../shared/response.ts";
import type { RequestedWebhook, Reach } from "../webhooks/create-webhook.ts";

/** Why what did not come to these webhooks may have come all the same: the receiver has turned some of it away; `null` where it has not. */
export function droppedByReceiver(
  { unkept }: AllDeliveries,
  asked: readonly Pick<RequestedWebhook, "hook">[],
): Unproven | null {
  const count = asked.reduce((sum, { hook }) => sum + (unkept[hook] ?? 0), 0);
  return count === 0
    ? null
    : unproven(`${count} deliveries to such a webhook were counted and turned away, since so many had come`);
}

/** Why the absence of a delivery is not the target's: no webhook of those was created, or it may not reach the receiver. */
export function missingDeliveryExcuse(
  reach: Reach,
  all: AllDeliveries,
  asked: readonly RequestedWebhook[],
): Unproven | null {
  const [first] = asked;
  if (!asked.some(({ exchange }) => isSuccess(exchange)))
    return unproven(
      `no webhook was created (${first === undefined ? "none was asked for" : outcomeOf(first.exchange)})`,
    );
  const away = droppedByReceiver(all, asked);
  if (away !== null) return away;
  if (all.deliveries.length > 0) return null;
  // Its sentence says what to mend, and stands alone where nothing else is said to enable the check.
  if (reach.unreachable !== null) return unproven(reach.unreachable);
  return reach.isNamed ? null : unproven(`nothing reached the receiver at ${reach.baseUrl}`, publicUrl);
}

const publicUrl = "`webhooks.publicUrl` in the target file: an address under which the target reaches the receiver";

export const isPublishedEvent = (type: unknown): type is WebhookEvent => webhookEvents.some((known) => known === type);

/**
 * Deliveries without the greetings that some senders give a new address before its first event: the first request to an address, of
 * a type that is not published, and with which another address was greeted to which published ones came.
 */
export function withoutPings(deliveries: readonly Delivery[]): Delivery[] {
  const mayGreet = (each: Delivery): boolean => each.attempt === 1 && !isPublishedEvent(eventTypeOf(each));
  const told = new Set(deliveries.filter((each) => isPublishedEvent(eventTypeOf(each))).map(({ hook }) => hook));
  const greetings = new Set(deliveries.filter((each) => mayGreet(each) && told.has(each.hook)).map(eventTypeOf));
  return deliveries.filter((each) => !(mayGreet(each) && greetings.has(eventTypeOf(each))));
}

/** Deliveries whose type is none of the published ones are a breach of their own clause, and leave open what they tell of. */
export function unpublishedTypeExcuse(deliveries: readonly Delivery[]): Unproven | null {
  return withoutPings(deliveries).some((each) => !isPublishedEvent(eventTypeOf(each)))
    ? unproven("deliveries came whose `type` is not one of the published; see HOOK-2")
    : null;
}
