import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { decodedSegment } from "../../base/path-segment.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { isTimestamp, unixMsOf } from "../../rules/bodies/fields.ts";
import { dateSeconds } from "../../rules/limits/sample.ts";
import type { Check } from "../../run/judge/check.ts";
import { checkEvery } from "../../run/judge/check-every.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { fieldMatrix } from "../shared/cases.ts";
import { deliveriesTo } from "../webhooks/await-deliveries.ts";
import { type InvokedWithWebhooks, invokedWithWebhooks } from "../webhooks/probes.ts";
import { eventIdOf, eventTypeOf, isPublishedEvent, withoutPings } from "./events.ts";
import { allDeliveries } from "./probes.ts";

const deliveriesOfAgent = ({ webhooks, deliveries }: InvokedWithWebhooks): Delivery[] =>
  withoutPings(
    [webhooks.wildcard, webhooks.both, webhooks.completed].flatMap((each) =>
      each === null ? [] : deliveriesTo(deliveries, each.hook),
    ),
  );

export function judgeAgentNamed(evidence: InvokedWithWebhooks): Finding<never> {
  const invoked = evidence.invoked.map(invokedAgent).find((each) => each !== null);
  const named = deliveriesOfAgent(evidence).flatMap((delivery) => {
    const agent = getPath(deliveryJson(delivery), "agent_id");
    return typeof agent === "string" ? [{ agent, delivery }] : [];
  });
  if (invoked === undefined || named.length === 0) return unproven("no delivery names an agent; see HOOK-5");
  const other = named.find(({ agent }) => agent !== invoked);
  if (other === undefined) return holds();
  return breach(`\`agent_id\` ${formatValue(invoked)}`, formatValue(other.agent), other.delivery, ...evidence.invoked);
}

function invokedAgent({ request }: Exchange): string | null {
  const name = /\/agents\/([^/]+)\/invoke$/.exec(new URL(request.url).pathname)?.[1];
  return name === undefined ? null : decodedSegment(name);
}

const toleranceMs = 60_000;

/** Judges that `created` is close to the time of the invokes, by the real clock or the test clock. */
export function judgeCreatedTime(evidence: InvokedWithWebhooks): Finding<never> {
  const dates = evidence.invoked.map(dateSeconds).filter((each) => each !== null);
  const created = deliveriesOfAgent(evidence).flatMap((delivery) => {
    const text = getPath(deliveryJson(delivery), "created");
    return typeof text === "string" && isTimestamp(text) && !Number.isNaN(unixMsOf(text))
      ? [{ text, atMs: unixMsOf(text), delivery }]
      : [];
  });
  if (dates.length === 0 || created.length === 0)
    return unproven("no delivery has a readable `created`, or no response has a `Date` header");
  const clockMs = Math.max(...created.map(({ delivery }) => delivery.clockAtMostMs));
  const fromMs = Math.min(...dates) * 1000 - toleranceMs - clockMs;
  const toMs = Math.max(...dates) * 1000 + toleranceMs + clockMs;
  const wrong = created.find(({ atMs }) => atMs < fromMs || atMs > toMs);
  if (wrong === undefined) return holds();
  const around = new Date(Math.min(...dates) * 1000).toISOString();
  return breach(`\`created\` about ${around}`, formatValue(wrong.text), wrong.delivery, ...evidence.invoked);
}

const requestIdOf = (delivery: Delivery): unknown => getPath(deliveryJson(delivery), "data", "request_id");

function isOtherEvent(one: Delivery, other: Delivery): boolean {
  if (eventTypeOf(one) !== eventTypeOf(other)) return true;
  const [first, second] = [requestIdOf(one), requestIdOf(other)];
  return typeof first === "string" && typeof second === "string" && first !== second;
}

/** Checks HOOK-40: different events have different ids. One event may have a different id for each webhook. */
export const uniqueIdsCheck: Check = checkEvery(
  "HOOK-40",
  { sent: invokedWithWebhooks, all: allDeliveries },
  {
    matrix: fieldMatrix("delivery"),
    noun: "deliveries",
    members: ({ all }) => {
      const byId = Map.groupBy(
        all.deliveries.filter((each) => typeof eventIdOf(each) === "string" && isPublishedEvent(eventTypeOf(each))),
        (each) => JSON.stringify([each.hook, eventIdOf(each)]),
      );
      return [...byId.values()].flatMap((sameId) =>
        sameId.map((delivery) => ({
          cell: { of: "deliveries received", kind: String(eventTypeOf(delivery)) },
          proof: delivery,
          subject: { delivery, other: sameId.find((each) => isOtherEvent(each, delivery)) },
        })),
      );
    },
    judge: ({ delivery, other }) =>
      other === undefined
        ? null
        : {
            expected: "an `id` that no other event has",
            actual: `${formatValue(eventIdOf(delivery))} of \`${String(eventTypeOf(delivery))}\` and of \`${String(eventTypeOf(other))}\``,
          },
    whenEmpty: unproven("no delivery came with an `id`; see HOOK-1"),
  },
);
