import { getPath } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { type WebhookEvent, webhookEvents } from "../../spec/events.ts";
import { hookPrefix } from "../webhooks/create-webhook.ts";

/**
 * The receiver's address to which one webhook is redirected. A sender may follow the redirect with a GET, so the rules
 * for deliveries do not apply at this address.
 */
export const redirectedHook = `${hookPrefix}redirected`;

export const isRedirected = ({ hook }: Delivery): boolean => hook === redirectedHook;

/** Whether a delivery came to a webhook, and not to an alert's address or through a redirect. */
export const isToWebhook = (delivery: Delivery): boolean =>
  delivery.hook.startsWith(hookPrefix) && !isRedirected(delivery);

/** Returns the event type of a delivery; `undefined` if the body cannot be read. */
export const eventTypeOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "type");

/** Returns the event id of a delivery; `undefined` if the body cannot be read. */
export const eventIdOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "id");

export const isPublishedEvent = (type: unknown): type is WebhookEvent => webhookEvents.some((known) => known === type);

export const eventsOfType = (deliveries: readonly Delivery[], type: string): Delivery[] =>
  deliveries.filter((each) => eventTypeOf(each) === type);

/**
 * Whether two deliveries have the same event: an equal id, or equal type and data, because each attempt may have a new
 * id. The data must include a `request_id`, since events of two executions may otherwise be equal.
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
    // Compared first, because most pairs of deliveries are of two requests, and comparing whole texts takes long.
    requestId === getPath(otherData, "request_id") &&
    getPath(first, "type") === getPath(second, "type") &&
    JSON.stringify(data) === JSON.stringify(otherData)
  );
}

/**
 * Leaves out pings: test messages that some senders send to a new address before its first event.
 *
 * A ping is the first delivery to its address and has a type that the document does not define. The address must also
 * get events of defined types; pings of that type are then left out everywhere.
 */
export function withoutPings(deliveries: readonly Delivery[]): Delivery[] {
  const mayBePing = (each: Delivery): boolean => each.attempt === 1 && !isPublishedEvent(eventTypeOf(each));
  const hooks = new Set(deliveries.filter((each) => isPublishedEvent(eventTypeOf(each))).map(({ hook }) => hook));
  const pings = new Set(deliveries.filter((each) => mayBePing(each) && hooks.has(each.hook)).map(eventTypeOf));
  return deliveries.filter((each) => !(mayBePing(each) && pings.has(eventTypeOf(each))));
}
