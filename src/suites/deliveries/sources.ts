import { isIP } from "node:net";

import { type Delivery, deliveryHeaderValues } from "../../evidence/delivery.ts";
import { checkEvery, type ClauseCase } from "../../run/judge/check-every.ts";
import { type Check, observe } from "../../run/judge/check.ts";
import { exempt, type Finding, observed, unproven } from "../../run/judge/finding.ts";
import { isListed, isPublic } from "../../target/source-address.ts";
import { fieldMatrix } from "../shared/cases.ts";
import { eventTypeOf, isPublishedEvent, withoutPings, type AllDeliveries } from "./events.ts";
import { invokedWithWebhooks } from "../webhooks/probes.ts";
import { allDeliveries } from "./probes.ts";

const webhookProbes = { sent: invokedWithWebhooks, all: allDeliveries };

interface Source {
  readonly address: string;
  readonly isPublished: boolean;
  readonly published: string;
}

/** Returns the last address in a header. The nearest proxy added it; a sender can forge earlier addresses. */
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
  const isTranslated = found.every(({ subject }) => !isPublic(subject.address));
  return hasPublicUrl === true || (isTranslated && sources.addresses.every(isPublicEntry));
}

const isPublicEntry = (entry: string): boolean => isPublic(entry.split("/", 1)[0] ?? "");

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
    const seen = [...counts].map(([address, those]) => `${address} (${those.length})`);
    const from = hasPublicUrl === true && header === null ? ", which may be a tunnel's" : "";
    return observed(`deliveries by address: ${seen.join(", ")}${from}`);
  }),
];
