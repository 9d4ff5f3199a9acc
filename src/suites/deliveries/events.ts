import { getPath } from "../../base/json.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { type WebhookEvent, webhookEvents } from "../../spec/events-and-errors.ts";
import { hookPrefix, type RequestedWebhook, type ReceiverReach } from "../webhooks/create-webhook.ts";
import { type Unproven, unproven } from "../../run/judge/finding.ts";
import { isSuccess, outcomeOf } from "../shared/response.ts";
import type { DeliverySources } from "../../target/target.ts";

/**
 * Name of the receiver's address to which a 302 reply redirects the target. Requests there follow a redirect, so the
 * rules for deliveries do not apply to them.
 */
export const redirectedHook = `${hookPrefix}redirected`;

export const isRedirected = ({ hook }: Delivery): boolean => hook === redirectedHook;

/** Whether a delivery went to the address of a single webhook, and not of an alert or a redirect. */
export const isToWebhook = (delivery: Delivery): boolean =>
  delivery.hook.startsWith(hookPrefix) && !isRedirected(delivery);

export const eventTypeOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "type");

export const eventIdOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "id");

export const isPublishedEvent = (type: unknown): type is WebhookEvent => webhookEvents.some((known) => known === type);

export const eventsOfType = (deliveries: readonly Delivery[], type: string): Delivery[] =>
  deliveries.filter((each) => eventTypeOf(each) === type);

/** Whether two deliveries have the same event id, or the same `request_id`, type and data. */
export function isSameEvent(one: Delivery, other: Delivery): boolean {
  const [first, second] = [deliveryJson(one), deliveryJson(other)];
  if (first === undefined || second === undefined) return false;
  const id = getPath(first, "id");
  if (typeof id === "string" && id === getPath(second, "id")) return true;
  const [data, otherData] = [getPath(first, "data"), getPath(second, "data")];
  const requestId = getPath(data, "request_id");
  return (
    typeof requestId === "string" &&
    // Compares the request ids first: this is cheap, and most pairs differ here.
    requestId === getPath(otherData, "request_id") &&
    getPath(first, "type") === getPath(second, "type") &&
    JSON.stringify(data) === JSON.stringify(otherData)
  );
}

/**
 * Removes pings and their retries: deliveries of an undocumented type, e.g. `ping`, before the first documented event of
 * an address. Keeps a delivery with a `request_id`, and a type if none of its addresses also gets a documented event:
 * they may be misnamed events.
 */
export function withoutPings(deliveries: readonly Delivery[]): Delivery[] {
  const hooks = new Set<string>();
  const early = deliveries.filter((each) => {
    if (isPublishedEvent(eventTypeOf(each))) hooks.add(each.hook);
    return !hooks.has(each.hook) && typeof getPath(deliveryJson(each), "data", "request_id") !== "string";
  });
  const types = new Set(early.filter(({ hook }) => hooks.has(hook)).map(eventTypeOf));
  const pings = new Set(early.filter((each) => types.has(eventTypeOf(each))));
  const ids = new Set([...pings].map(idAtHook).filter((id) => id !== null));
  const isPing = (each: Delivery): boolean => pings.has(each) || ids.has(idAtHook(each) ?? "");
  return deliveries.filter((each) => isPublishedEvent(eventTypeOf(each)) || !isPing(each));
}

/** Returns the address and the event id of a delivery as text; `null` without an id. */
function idAtHook(delivery: Delivery): string | null {
  const id = eventIdOf(delivery);
  return typeof id === "string" ? JSON.stringify([delivery.hook, id]) : null;
}

export interface AllDeliveries {
  readonly deliveries: readonly Delivery[];
  readonly untilMs: number;
  readonly clockMs: number;
  readonly canMove: boolean;
  /** Requests that followed a receiver's redirect. Absent in older evidence. */
  readonly redirected?: readonly Delivery[];
  /** For each address, the number of deliveries that the receiver counted but did not store. */
  readonly unkept: Readonly<Record<string, number>>;
  /** Number of connections that the receiver refused because too many were open. Absent in older evidence. */
  readonly refusedConnections?: number;
  /** Addresses that the target file lists as senders of deliveries. Absent without a list, and in older evidence. */
  readonly sources?: DeliverySources;
  /** Whether the target file has `webhooks.publicUrl`. Absent in older evidence. */
  readonly hasPublicUrl?: boolean;
}

/** Returns `unproven` if the receiver may have dropped deliveries to these webhooks, else `null`. */
export function receiverOverflowExcuse(
  { unkept, refusedConnections = 0 }: AllDeliveries,
  webhooks: readonly Pick<RequestedWebhook, "hook">[],
): Unproven | null {
  if (refusedConnections > 0)
    return unproven(
      `the receiver had to close ${refusedConnections} connections that may have brought deliveries, as too many were open`,
    );
  const count = webhooks.reduce((sum, { hook }) => sum + (unkept[hook] ?? 0), 0);
  return count === 0
    ? null
    : unproven(
        `the receiver counted ${count} deliveries to such a webhook without keeping them, as there were too many`,
      );
}

/** Returns `unproven` if missing deliveries prove no fault, e.g. if the receiver is unreachable; otherwise `null`. */
export function missingDeliveryExcuse(
  reach: ReceiverReach,
  all: AllDeliveries,
  webhooks: readonly RequestedWebhook[],
): Unproven | null {
  const [first] = webhooks;
  if (!webhooks.some(({ exchange }) => isSuccess(exchange)))
    return unproven(
      `no webhook was created (${first === undefined ? "none was requested" : outcomeOf(first.exchange)})`,
    );
  const dropped = receiverOverflowExcuse(all, webhooks);
  if (dropped !== null) return dropped;
  if (all.deliveries.length > 0) return null;
  // Does not advise `webhooks.publicUrl`, because the text in `unreachable` already says what to do.
  if (reach.unreachable !== null) return unproven(reach.unreachable);
  return reach.isNamed ? null : unproven(`nothing reached the receiver at ${reach.baseUrl}`, publicUrl);
}

const publicUrl = "`webhooks.publicUrl` in the target file: an address under which the target reaches the receiver";

export const unpublishedTypeExcuse = (deliveries: readonly Delivery[]): Unproven | null =>
  withoutPings(deliveries).some((each) => !isPublishedEvent(eventTypeOf(each)))
    ? unproven("deliveries came whose `type` is not a published one; see HOOK-2")
    : null;
