import type { Delivery } from "../evidence/delivery.ts";
import { type WebhookEvent, webhookEvents } from "../interface/events.ts";
import { type Unproven, unproven } from "../run/finding.ts";
import type { Delivered } from "./deliveries-probes.ts";
import { eventTypeOf } from "./delivered-event.ts";
import { isSuccess, outcomeOf } from "./shape.ts";
import type { Asked, Reach } from "./webhook-calls.ts";

/** Why the absence of a delivery is not the target's: no webhook of those was created, or it may not reach the receiver. */
export function excusedSilence(reach: Reach, { deliveries }: Delivered, asked: readonly Asked[]): Unproven | null {
  const [first] = asked;
  if (!asked.some(({ exchange }) => isSuccess(exchange)))
    return unproven(
      `no webhook was created (${first === undefined ? "none was asked for" : outcomeOf(first.exchange)})`,
    );
  if (deliveries.length > 0) return null;
  if (reach.unreachable !== null) return unproven(reach.unreachable, publicUrl);
  return reach.isNamed ? null : unproven(`nothing reached the receiver at ${reach.baseUrl}`, publicUrl);
}

const publicUrl = "`webhooks.publicUrl` in the target file: an address under which the target reaches the receiver";

export const isPublished = (type: unknown): type is WebhookEvent => webhookEvents.some((known) => known === type);

/** Deliveries whose type is none of the published ones are a breach of their own clause, and leave open what they tell of. */
export function unreadable(deliveries: readonly Delivery[]): Unproven | null {
  return deliveries.some((each) => !isPublished(eventTypeOf(each)))
    ? unproven("deliveries came whose `type` is not one of the published; see HOOK-2")
    : null;
}
