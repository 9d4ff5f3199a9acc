import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import type { Check } from "../../run/judge/check.ts";
import { unproven } from "../../run/judge/finding.ts";
import { checkEvery } from "../../run/judge/check-every.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { fieldMatrix } from "../shared/matrices.ts";
import { invokedWithWebhooks } from "../webhooks/probes.ts";
import { eventTypeOf } from "./event.ts";
import { allDeliveries } from "./probes.ts";
import { isPublishedEvent } from "./missing-deliveries.ts";

const idOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "id");

const requestOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "data", "request_id");

/** Whether two deliveries tell of two events, whatever their ids say: of two types, or of two requests. */
function isOtherEvent(one: Delivery, other: Delivery): boolean {
  if (eventTypeOf(one) !== eventTypeOf(other)) return true;
  const [first, second] = [requestOf(one), requestOf(other)];
  return typeof first === "string" && typeof second === "string" && first !== second;
}

/** Events are told apart by what one address got: another may count its own. */
export const uniqueIdsCheck: Check = checkEvery(
  "HOOK-40",
  { sent: invokedWithWebhooks, all: allDeliveries },
  {
    matrix: fieldMatrix("delivery"),
    noun: "deliveries",
    members: ({ all }) => {
      const byId = Map.groupBy(
        all.deliveries.filter((each) => typeof idOf(each) === "string" && isPublishedEvent(eventTypeOf(each))),
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
    judge: ({ delivery, other }) =>
      other === undefined
        ? null
        : {
            expected: "an `id` that no other event has",
            actual: `${formatValue(idOf(delivery))} of \`${String(eventTypeOf(delivery))}\` and of \`${String(eventTypeOf(other))}\``,
          },
    whenEmpty: unproven("no delivery came with an `id`; see HOOK-1"),
  },
);
