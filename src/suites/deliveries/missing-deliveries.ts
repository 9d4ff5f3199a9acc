import type { Delivery } from "../../evidence/delivery.ts";
import { type Unproven, unproven } from "../../run/judge/finding.ts";
import { isSuccess, outcomeOf } from "../shared/response.ts";
import type { RequestedWebhook, Reach } from "../webhooks/create-webhook.ts";
import { eventTypeOf, isPublishedEvent, withoutPings } from "./events.ts";
import type { AllDeliveries } from "./probes.ts";

/**
 * Returns `unproven` if the receiver may have missed deliveries to these webhooks, because there were too many.
 * Otherwise returns `null`.
 */
export function droppedByReceiver(
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

/**
 * Returns `unproven` if the target may not be to blame for a missing delivery: no webhook exists, or no delivery can
 * reach the receiver. Otherwise returns `null`.
 */
export function missingDeliveryExcuse(
  reach: Reach,
  all: AllDeliveries,
  webhooks: readonly RequestedWebhook[],
): Unproven | null {
  const [first] = webhooks;
  if (!webhooks.some(({ exchange }) => isSuccess(exchange)))
    return unproven(
      `no webhook was created (${first === undefined ? "none was requested" : outcomeOf(first.exchange)})`,
    );
  const dropped = droppedByReceiver(all, webhooks);
  if (dropped !== null) return dropped;
  if (all.deliveries.length > 0) return null;
  // Names no requirement, because the reason itself says what the user can do.
  if (reach.unreachable !== null) return unproven(reach.unreachable);
  return reach.isNamed ? null : unproven(`nothing reached the receiver at ${reach.baseUrl}`, publicUrl);
}

const publicUrl = "`webhooks.publicUrl` in the target file: an address under which the target reaches the receiver";

/**
 * Returns `unproven` if a delivery has a type that the document does not define: it may be the missing event. HOOK-2
 * (defined types) judges such a delivery. Otherwise returns `null`.
 */
export const unpublishedTypeExcuse = (deliveries: readonly Delivery[]): Unproven | null =>
  withoutPings(deliveries).some((each) => !isPublishedEvent(eventTypeOf(each)))
    ? unproven("deliveries came whose `type` is not a published one; see HOOK-2")
    : null;
