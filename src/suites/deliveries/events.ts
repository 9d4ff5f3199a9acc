import { getPath } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { type WebhookEvent, webhookEvents } from "../../spec/events.ts";
import { hookPrefix } from "../webhooks/create-webhook.ts";

/** The address to which a receiver redirects. A sender may use GET there, so the rules for deliveries do not apply. */
export const redirectedHook = `${hookPrefix}redirected`;

export const isRedirected = ({ hook }: Delivery): boolean => hook === redirectedHook;

/** Whether a delivery was sent to a webhook's own address. False for an alert's address, and after a redirect. */
export const isToWebhook = (delivery: Delivery): boolean =>
  delivery.hook.startsWith(hookPrefix) && !isRedirected(delivery);

/** Returns the event type of a delivery. `undefined` if its body has no readable type. */
export const eventTypeOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "type");

/** Returns the event id of a delivery. `undefined` if its body has no readable id. */
export const eventIdOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "id");

export const isPublishedEvent = (type: unknown): type is WebhookEvent => webhookEvents.some((known) => known === type);

export const eventsOfType = (deliveries: readonly Delivery[], type: string): Delivery[] =>
  deliveries.filter((each) => eventTypeOf(each) === type);

/**
 * Whether two deliveries have the same event id, or the same type and data with a `request_id`. Without a `request_id`,
 * events of two executions may look equal.
 */
export function isSameEvent(one: Delivery, other: Delivery): boolean {
  const [first, second] = [deliveryJson(one), deliveryJson(other)];
  if (first === undefined || second === undefined) return false;
  const id = getPath(first, "id");
  if (typeof id === "string" && id === getPath(second, "id")) return true;
  const [data, otherData] = [getPath(first, "data"), getPath(second, "data")];
  const requestId = getPath(data, "request_id");
  return (
    typeof requestId === "string" &&
    // This cheap comparison comes first: most deliveries belong to different requests.
    requestId === getPath(otherData, "request_id") &&
    getPath(first, "type") === getPath(second, "type") &&
    JSON.stringify(data) === JSON.stringify(otherData)
  );
}

/**
 * Leaves out pings: test messages that some senders send to a new address before its first event. Their type is not in
 * the document, and the address also gets events whose type is.
 */
export function withoutPings(deliveries: readonly Delivery[]): Delivery[] {
  const mayBePing = (each: Delivery): boolean => each.attempt === 1 && !isPublishedEvent(eventTypeOf(each));
  const hooks = new Set(deliveries.filter((each) => isPublishedEvent(eventTypeOf(each))).map(({ hook }) => hook));
  const pings = new Set(deliveries.filter((each) => mayBePing(each) && hooks.has(each.hook)).map(eventTypeOf));
  return deliveries.filter((each) => !(mayBePing(each) && pings.has(eventTypeOf(each))));
}
