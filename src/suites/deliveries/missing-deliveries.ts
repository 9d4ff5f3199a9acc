import type { Delivery } from "../../evidence/delivery.ts";
import { type Unproven, unproven } from "../../run/judge/finding.ts";
import { isSuccess, outcomeOf } from "../shared/response.ts";
import type { RequestedWebhook, ReceiverReach } from "../webhooks/create-webhook.ts";
import { eventTypeOf, isPublishedEvent, withoutPings } from "./events.ts";
import type { AllDeliveries } from "./probes.ts";

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

/** Returns `unproven` if a missing delivery may not be the target's fault, else `null`. */
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
  // The finding names no setting of the target file, because the reason itself says what the user can do.
  if (reach.unreachable !== null) return unproven(reach.unreachable);
  return reach.isNamed ? null : unproven(`nothing reached the receiver at ${reach.baseUrl}`, publicUrl);
}

const publicUrl = "`webhooks.publicUrl` in the target file: an address under which the target reaches the receiver";

/** Returns `unproven` if a delivery has an unknown type: it may be the missing event under a wrong name (HOOK-2). */
export const unpublishedTypeExcuse = (deliveries: readonly Delivery[]): Unproven | null =>
  withoutPings(deliveries).some((each) => !isPublishedEvent(eventTypeOf(each)))
    ? unproven("deliveries came whose `type` is not a published one; see HOOK-2")
    : null;
