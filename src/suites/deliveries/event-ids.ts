import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { type Check } from "../../run/check.ts";
import { unproven } from "../../run/finding.ts";
import { universal } from "../../run/universal.ts";
import { member, show } from "../answers/shape.ts";
import { universeOf } from "../answers/universes.ts";
import { hooked } from "../webhooks/probes.ts";
import { eventTypeOf } from "./event.ts";
import { delivered } from "./probes.ts";
import { isPublished } from "./silence.ts";

const idOf = (delivery: Delivery): unknown => member(deliveryJson(delivery), "id");

const requestOf = (delivery: Delivery): unknown => member(deliveryJson(delivery), "data", "request_id");

/** Whether two deliveries tell of two events, whatever their ids say: of two types, or of two requests. */
function isOtherEvent(one: Delivery, other: Delivery): boolean {
  if (eventTypeOf(one) !== eventTypeOf(other)) return true;
  const [first, second] = [requestOf(one), requestOf(other)];
  return typeof first === "string" && typeof second === "string" && first !== second;
}

/** Events are told apart by what one address got: another may count its own. */
export const idsDiffer: Check = universal(
  "HOOK-40",
  { sent: hooked, all: delivered },
  {
    universe: universeOf("delivery"),
    noun: "deliveries",
    members: ({ all }) => {
      const byId = Map.groupBy(
        all.deliveries.filter((each) => typeof idOf(each) === "string" && isPublished(eventTypeOf(each))),
        (each) => JSON.stringify([each.hook, idOf(each)]),
      );
      return [...byId.values()].flatMap((alike) =>
        alike.map((delivery) => ({
          cell: { of: "deliveries received", kind: String(eventTypeOf(delivery)) },
          proof: delivery,
          subject: { delivery, other: alike.find((each) => isOtherEvent(each, delivery)) },
        })),
      );
    },
    say: ({ delivery, other }) =>
      other === undefined
        ? null
        : {
            expected: "an `id` that no other event has",
            actual: `${show(idOf(delivery))} of \`${String(eventTypeOf(delivery))}\` and of \`${String(eventTypeOf(other))}\``,
          },
    none: unproven("no delivery came with an `id`; see HOOK-1"),
  },
);
