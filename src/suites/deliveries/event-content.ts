import { formatValue, getPath } from "../../base/json.ts";
import { decodedSegment } from "../../base/http.ts";
import { type Delivery, deliveryHeaderValues, deliveryJson } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { instantMsOf } from "../../rules/bodies/timestamps.ts";
import { dateSeconds } from "../../rules/limits/sample.ts";
import { type Check, checkEvery, type ClauseCase, observe } from "../../run/judge/check.ts";
import { breach, exempt, type Finding, holds, observed, unproven } from "../../run/judge/finding.ts";
import { fieldMatrix } from "../shared/cases.ts";
import { deliveriesTo } from "../webhooks/create-webhook.ts";
import type { InvokedWithWebhooks } from "../webhooks/probes.ts";
import { type AllDeliveries, eventIdOf, eventTypeOf, isPublishedEvent, withoutPings } from "./events.ts";
import { webhookProbes } from "./probes.ts";
import { isIP } from "node:net";
import { isListed, isPublicAddress } from "../../target/source-address.ts";

const deliveriesOfAgent = ({ webhooks, deliveries }: InvokedWithWebhooks): Delivery[] =>
  withoutPings(
    [webhooks.wildcard, webhooks.both, webhooks.completed].flatMap((each) =>
      each === null ? [] : deliveriesTo(deliveries, each.hook),
    ),
  );

export function judgeDeliveredAgentId(evidence: InvokedWithWebhooks): Finding<never> {
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

/** Judges HOOK-37: `created` is within a minute of the invoke responses' `Date`, plus advances of the test clock. */
export function judgeCreatedTime(evidence: InvokedWithWebhooks): Finding<never> {
  const dates = evidence.invoked.map(dateSeconds).filter((each) => each !== null);
  const created = deliveriesOfAgent(evidence).flatMap((delivery) => {
    const text = getPath(deliveryJson(delivery), "created");
    const atMs = instantMsOf(text);
    return Number.isNaN(atMs) ? [] : [{ text, atMs, delivery }];
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

/** Checks HOOK-40: different events have different ids. Compares only deliveries to the same webhook. */
export const uniqueIdsCheck: Check = checkEvery("HOOK-40", webhookProbes, {
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
});

interface Source {
  readonly address: string;
  readonly isPublished: boolean;
  readonly published: string;
}

/** Returns the last address in a header: the nearest proxy added it. A sender can forge earlier addresses. */
function lastAddressIn(values: readonly string[]): string | null {
  const last = values.join(",").split(",").at(-1)?.trim() ?? "";
  const [, bracketed, plain] = /^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(last) ?? [];
  const address = bracketed ?? plain ?? last;
  return isIP(address) === 0 ? null : address;
}

function addressOf(delivery: Delivery, header: string | null): string | null {
  return header === null ? delivery.peer : lastAddressIn(deliveryHeaderValues(delivery, header));
}

function sourcesOf({ deliveries, sources }: AllDeliveries): ClauseCase<Source>[] {
  if (sources === undefined) return [];
  const published = sources.addresses.join(", ");
  return withoutPings(deliveries).flatMap((delivery) => {
    const address = addressOf(delivery, sources.header);
    if (address === null) return [];
    const type = eventTypeOf(delivery);
    const cell = { of: "deliveries received", kind: isPublishedEvent(type) ? type : "other" };
    const isPublished = isListed(sources.addresses, address);
    return [{ cell, proof: delivery, subject: { address, isPublished, published } }];
  });
}

function mayBeForwarded({ sources, hasPublicUrl }: AllDeliveries, found: readonly ClauseCase<Source>[]): boolean {
  if (sources === undefined || sources.header !== null) return false;
  if (found.some(({ subject }) => subject.isPublished)) return false;
  const isTranslated = found.every(({ subject }) => !isPublicAddress(subject.address));
  return hasPublicUrl === true || (isTranslated && sources.addresses.every(isPublicEntry));
}

const isPublicEntry = (entry: string): boolean => isPublicAddress(entry.split("/", 1)[0] ?? "");

const sourceHeader = "`webhooks.sourceHeader` in the target file: the header in which the tunnel passes on the address";

function whySourcesAreUnknown(all: AllDeliveries): Finding<never> {
  if (all.sources === undefined)
    return exempt("`webhooks.sources` of the target file lists no addresses; see HOOK-45 for those that were seen");
  if (all.deliveries.length === 0) return unproven("no delivery came; see HOOK-8");
  return all.sources.header === null
    ? unproven("the addresses may be those of a tunnel before the receiver", sourceHeader)
    : unproven(`no delivery has an address in \`${all.sources.header}\``, sourceHeader);
}

export const sourceChecks: readonly Check[] = [
  checkEvery("HOOK-44", webhookProbes, {
    matrix: fieldMatrix("delivery"),
    noun: "deliveries",
    members: ({ all }) => {
      const found = sourcesOf(all);
      return mayBeForwarded(all, found) ? [] : found;
    },
    judge: ({ address, isPublished, published }) =>
      isPublished ? null : { expected: `one of the published source addresses (${published})`, actual: address },
    whenEmpty: ({ all }) => whySourcesAreUnknown(all),
  }),
  observe("HOOK-45", webhookProbes, ({ all: { deliveries, sources, hasPublicUrl } }) => {
    if (deliveries.length === 0) return unproven("no delivery came; see HOOK-8");
    const header = sources?.header ?? null;
    const counts = Map.groupBy(deliveries, (each) => addressOf(each, header) ?? "no address");
    const byAddress = [...counts].map(([address, those]) => `${address} (${those.length})`);
    const from = hasPublicUrl === true && header === null ? ", which may be a tunnel's" : "";
    return observed(`deliveries by address: ${byAddress.join(", ")}${from}`);
  }),
];
