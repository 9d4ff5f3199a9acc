import { getPath } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { type WebhookEvent, webhookEvents } from "../../spec/events.ts";
import { hookPrefix } from "../webhooks/create-webhook.ts";

/**
 * The address to which one receiver redirects. A sender may follow with a GET, so the rules of deliveries do not apply
 * there.
 */
export const redirectedHook = `${hookPrefix}redirected`;

export const isRedirected = ({ hook }: Delivery): boolean => hook === redirectedHook;

/** Whether a delivery came to a webhook, not to an alert or by a redirect. */
export const isToWebhook = (delivery: Delivery): boolean =>
  delivery.hook.startsWith(hookPrefix) && !isRedirected(delivery);

/** The event type of a delivery; `undefined` if its body cannot be read. */
export const eventTypeOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "type");

/** The event id of a delivery; `undefined` if its body cannot be read. */
export const eventIdOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "id");

export const isPublishedEvent = (type: unknown): type is WebhookEvent => webhookEvents.some((known) => known === type);

export const eventsOfType = (deliveries: readonly Delivery[], type: string): Delivery[] =>
  deliveries.filter((each) => eventTypeOf(each) === type);

/**
 * Whether two deliveries have the same event: the same id or, if each attempt has an id of its own, the same type and
 * data. Without a `request_id`, events of two executions may have the same data.
 */
export function isSameEvent(one: Delivery, other: Delivery): boolean {
  const [first, second] = [deliveryJson(one), deliveryJson(other)];
  if (first === undefined || second === undefined) return false;
  const id = getPath(first, "id");
  if (typeof id === "string" && id === getPath(second, "id")) return true;
  const data = getPath(first, "data");
  return (
    typeof getPath(data, "request_id") === "string" &&
    getPath(first, "type") === getPath(second, "type") &&
    JSON.stringify(data) === JSON.stringify(getPath(second, "data"))
  );
}

/**
 * Returns the deliveries without pings, which some senders send to a new address before its first event. A ping is the
 * first attempt of an unpublished type. That type must also occur at an address that gets published events.
 */
export function withoutPings(deliveries: readonly Delivery[]): Delivery[] {
  const mayBePing = (each: Delivery): boolean => each.attempt === 1 && !isPublishedEvent(eventTypeOf(each));
  const hooks = new Set(deliveries.filter((each) => isPublishedEvent(eventTypeOf(each))).map(({ hook }) => hook));
  const pings = new Set(deliveries.filter((each) => mayBePing(each) && hooks.has(each.hook)).map(eventTypeOf));
  return deliveries.filter((each) => !(mayBePing(each) && pings.has(eventTypeOf(each))));
}
