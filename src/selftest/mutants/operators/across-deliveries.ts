import { getPath } from "../../../base/json.ts";
import { type Delivery, deliveryJson } from "../../../evidence/delivery.ts";
import { deliveryPolicy } from "../../../spec/events.ts";
import { withDeliveryText } from "../messages.ts";
import type { CleanRun } from "../clean-run.ts";
import { replaceAt } from "../edits.ts";
import { replacingDeliveries, type Mutant, mutantOf } from "../mutant.ts";
import { failingHook } from "./deliveries.ts";

const typeOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "type");

const withId = (delivery: Delivery, id: unknown): Delivery =>
  withDeliveryText(delivery, JSON.stringify(replaceAt(deliveryJson(delivery), ["id"], id)));

/** Gives a delivery the request of another delivery, and the matching `computedSignature`. */
const withRequestOf = (delivery: Delivery, { request, computedSignature }: Delivery): Delivery => ({
  ...delivery,
  request,
  computedSignature,
});

/** Returns two deliveries for each pair of event types: the first of each type that the same address received. */
function pairsIn({ deliveries }: CleanRun): (readonly [Delivery, Delivery])[] {
  const found = new Map<string, readonly [Delivery, Delivery]>();
  for (const received of Map.groupBy(
    deliveries.filter(({ hook }) => hook.startsWith("webhook-")),
    ({ hook }) => hook,
  ).values())
    for (const [at, one] of received.entries()) {
      const other = received.slice(at + 1).find((each) => typeOf(each) !== typeOf(one));
      const cell = `${String(typeOf(one))} ${String(other === undefined ? "" : typeOf(other))}`;
      if (other !== undefined && !found.has(cell)) found.set(cell, [one, other]);
    }
  return [...found.values()];
}

/** Whether two events belong to one execution: they have the same request id. */
function isOfOneRequest(one: Delivery, other: Delivery): boolean {
  const [first, second] = [one, other].map((each) => getPath(deliveryJson(each), "data", "request_id"));
  return typeof first === "string" && first === second;
}

function deliveryPairMutants(run: CleanRun): Mutant[] {
  return pairsIn(run).flatMap(([one, other]) => {
    const place = `deliveries of ${String(typeOf(one))} and ${String(typeOf(other))}`;
    const sameId = mutantOf("one id for two events", { place, subject: "id", id: other.id }, ["HOOK-40"], () =>
      replacingDeliveries(withId(other, getPath(deliveryJson(one), "id"))),
    );
    if (!isOfOneRequest(one, other)) return [sameId];
    // No clause covers this change, because the document does not specify the order of events.
    const swapped = mutantOf("two events in another order", { place, subject: "order", id: one.id }, [], () =>
      replacingDeliveries(withRequestOf(one, other), withRequestOf(other, one)),
    );
    return [sameId, swapped];
  });
}

/** Returns mutants that change the event id in one retry, so that the attempts of a delivery have different ids. */
function attemptIdMutants({ deliveries }: CleanRun): Mutant[] {
  return deliveries
    .filter(({ hook, attempt }) => hook === failingHook && attempt > 1 && attempt <= deliveryPolicy.maxAttempts)
    .map((delivery) => {
      const { id, attempt } = delivery;
      const where = { place: `deliveries of ${String(typeOf(delivery))}`, subject: `attempt ${attempt}`, id };
      return mutantOf("another id at a later attempt", where, ["HOOK-32"], () =>
        replacingDeliveries(withId(delivery, `other-${attempt}`)),
      );
    });
}

/** Returns mutants in which a webhook gets an event to which it has not subscribed. */
function strayMutants({ deliveries }: CleanRun): Mutant[] {
  const stray = deliveries.find((each) => typeOf(each) === "agent.invoked");
  const narrow = deliveries.find(({ hook }) => hook === "webhook-completed");
  if (stray === undefined || narrow === undefined) return [];
  const where = { place: "deliveries of agent.completed", subject: "type", id: narrow.id };
  return [
    mutantOf("an event for another address", where, ["HOOK-15"], () =>
      replacingDeliveries(withRequestOf(narrow, stray)),
    ),
  ];
}

/** Returns mutants in which several deliveries contradict each other, although each is correct by itself. */
export const acrossDeliveries = (run: CleanRun): Mutant[] => [
  ...deliveryPairMutants(run),
  ...attemptIdMutants(run),
  ...strayMutants(run),
];
