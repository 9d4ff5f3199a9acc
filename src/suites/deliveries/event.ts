import { is2xx } from "../../base/http-status.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { getPath } from "../../base/json.ts";

/** The event that a delivery tells of, as far as its body can be read. */
export const eventTypeOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "type");

/** Deliveries of an event type, in order of arrival. */
export const eventsOfType = (deliveries: readonly Delivery[], type: string): Delivery[] =>
  deliveries.filter((each) => eventTypeOf(each) === type);

/** Whether two deliveries tell of one event: by its id, or, where each attempt has its own, by what it says. */
export function isSameEvent(one: Delivery, other: Delivery): boolean {
  const [first, second] = [deliveryJson(one), deliveryJson(other)];
  if (first === undefined || second === undefined) return false;
  const id = getPath(first, "id");
  if (typeof id === "string" && id === getPath(second, "id")) return true;
  const data = getPath(first, "data");
  // Other events may say the same of two executions.
  return (
    typeof getPath(data, "request_id") === "string" &&
    getPath(first, "type") === getPath(second, "type") &&
    JSON.stringify(data) === JSON.stringify(getPath(second, "data"))
  );
}

/** What a receiver said to a delivery: whether it was a 2xx. */
export const wasAccepted = ({ reply }: Delivery): boolean => reply.kind === "answered" && is2xx(reply.status);
