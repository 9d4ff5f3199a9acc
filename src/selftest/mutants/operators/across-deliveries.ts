import { getPath } from "../../../base/json.ts";
import { type Delivery, deliveryJson } from "../../../evidence/delivery.ts";
import { deliveryPolicy } from "../../../spec/events.ts";
import { withDeliveryText } from "../messages.ts";
import type { CleanRun } from "../clean-run.ts";
import { changedAt } from "../edits.ts";
import { inPlaceOfDeliveries, type Mutant } from "../mutant.ts";
import { failingHook } from "./deliveries.ts";

const typeOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "type");

const withId = (delivery: Delivery, id: unknown): Delivery =>
  withDeliveryText(delivery, JSON.stringify(changedAt(deliveryJson(delivery), ["id"], id)));

/** What one delivery brought, come as the other: its signature stays with its body. */
const asCame = (delivery: Delivery, { request, computedSignature }: Delivery): Delivery => ({
  ...delivery,
  request,
  computedSignature,
});

/** Of each pair of types that one address got, the first two deliveries. */
function pairsIn({ deliveries }: CleanRun): (readonly [Delivery, Delivery])[] {
  const found = new Map<string, readonly [Delivery, Delivery]>();
  for (const came of Map.groupBy(
    deliveries.filter(({ hook }) => hook.startsWith("webhook-")),
    ({ hook }) => hook,
  ).values())
    for (const [at, one] of came.entries()) {
      const other = came.slice(at + 1).find((each) => typeOf(each) !== typeOf(one));
      const cell = `${String(typeOf(one))} ${String(other === undefined ? "" : typeOf(other))}`;
      if (other !== undefined && !found.has(cell)) found.set(cell, [one, other]);
    }
  return [...found.values()];
}

/** Of one execution: events of two may lie far apart, and be awaited one after the other. */
function isOfOneRequest(one: Delivery, other: Delivery): boolean {
  const [first, second] = [one, other].map((each) => getPath(deliveryJson(each), "data", "request_id"));
  return typeof first === "string" && first === second;
}

/** In which order events are delivered is not stated. */
const swappedOrder = (one: Delivery, other: Delivery, place: string): Mutant => ({
  kind: "legal",
  operator: "two events in another order",
  place,
  subject: "order",
  id: one.id,
  expects: [],
  make: () => inPlaceOfDeliveries(asCame(one, other), asCame(other, one)),
});

function deliveryPairMutants(run: CleanRun): Mutant[] {
  return pairsIn(run).flatMap(([one, other]): Mutant[] => {
    const place = `deliveries of ${String(typeOf(one))} and ${String(typeOf(other))}`;
    return [
      {
        kind: "wrong",
        operator: "one id for two events",
        place,
        subject: "id",
        id: other.id,
        expects: ["HOOK-40"],
        make: () => inPlaceOfDeliveries(withId(other, getPath(deliveryJson(one), "id"))),
      },
      ...(isOfOneRequest(one, other) ? [swappedOrder(one, other, place)] : []),
    ];
  });
}

/** Another id with each later attempt. */
function attemptIdMutants({ deliveries }: CleanRun): Mutant[] {
  return deliveries
    .filter(({ hook, attempt }) => hook === failingHook && attempt > 1 && attempt <= deliveryPolicy.maxAttempts)
    .map((delivery) => ({
      kind: "wrong",
      operator: "another id at a later attempt",
      place: `deliveries of ${String(typeOf(delivery))}`,
      subject: `attempt ${delivery.attempt}`,
      id: delivery.id,
      expects: ["HOOK-32"],
      make: () => inPlaceOfDeliveries(withId(delivery, `other-${delivery.attempt}`)),
    }));
}

/** An event that came to whoever did not ask for it. */
function strayMutants({ deliveries }: CleanRun): Mutant[] {
  const [stray] = deliveries.filter((each) => typeOf(each) === "agent.invoked");
  const [narrow] = deliveries.filter(({ hook }) => hook === "webhook-completed");
  if (stray === undefined || narrow === undefined) return [];
  return [
    {
      kind: "wrong",
      operator: "an event for another address",
      place: "deliveries of agent.completed",
      subject: "type",
      id: narrow.id,
      expects: ["HOOK-15"],
      make: () => inPlaceOfDeliveries(asCame(narrow, stray)),
    },
  ];
}

/** Mutants of several deliveries, of which each is sound by itself. */
export const deliveriesMutants = (run: CleanRun): Mutant[] => [
  ...deliveryPairMutants(run),
  ...attemptIdMutants(run),
  ...strayMutants(run),
];
