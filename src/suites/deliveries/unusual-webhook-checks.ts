import { type Delivery, deliveryHeaderValues, hasValidSignature } from "../../evidence/delivery.ts";
import { bodyText, sentJson } from "../../evidence/exchange.ts";
import { type Check, check, type EvidenceOf } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { describeStatus, hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { deliveriesTo } from "../webhooks/create-webhook.ts";
import {
  areTwoWebhooks,
  mixedEvents,
  unusualSecretKinds,
  secretKindWithMixedEvents,
  secretKindWithQuery,
} from "../webhooks/unusual-webhooks.ts";
import { invokedWithWebhooks, type InvokedWithWebhooks } from "../webhooks/probes.ts";
import { eventsOfType, eventTypeOf, isPublishedEvent, missingDeliveryExcuse, withoutPings } from "./events.ts";
import { webhookProbes } from "./probes.ts";
import { headerNames } from "../../spec/headers.ts";
import { inapplicableForFewRequests } from "../shared/few-requests.ts";
import { formatValue, getPath } from "../../base/json.ts";

type Evidence = EvidenceOf<typeof webhookProbes>;

function judgeSecrets({ sent, all }: Evidence): Finding<never> {
  const { odd } = sent;
  if (odd === undefined || odd === null) return inapplicableForFewRequests;
  const signed = unusualSecretKinds.flatMap((kind) =>
    isSuccess(odd[kind].exchange)
      ? deliveriesTo(withoutPings(all.deliveries), odd[kind].hook).map((delivery) => ({ kind, delivery }))
      : [],
  );
  const isSignedOtherwise = sent.deliveries.some((each) => each.computedSignature !== null && hasValidSignature(each));
  if (!isSignedOtherwise) return inapplicable("no delivery is signed with a usual secret; see HOOK-21");
  const wrong = signed.find(({ delivery }) => !hasValidSignature(delivery));
  if (wrong !== undefined)
    return breach(
      `a signature keyed with the secret as it was sent (kind: ${wrong.kind})`,
      "a signature that is keyed otherwise",
      wrong.delivery,
      odd[wrong.kind].exchange,
    );
  return signed.length > 0 ? holds() : inapplicable("no delivery came to a webhook with such a secret");
}

function judgeMixedEvents({ sent, all }: Evidence): Finding<never> {
  const { odd, webhooks, reach, deliveries } = sent;
  if (odd === undefined || odd === null) return inapplicableForFewRequests;
  const mixed = odd[secretKindWithMixedEvents];
  const { wildcard, deployments } = webhooks;
  const isControlled = isSuccess(wildcard.exchange) && deployments !== null && isSuccess(deployments.exchange);
  if (!isControlled) return unproven("no webhook was created for one of the two alone");
  if (!isSuccess(mixed.exchange)) {
    const isAboutSecret = /secret/i.test(bodyText(mixed.exchange) ?? "");
    return hasStatus(mixed.exchange, 400, 422) && isSuccess(odd.long.exchange) && !isAboutSecret
      ? breach(`a webhook of ${mixedEvents.join(" and ")} is created`, describeStatus(mixed.exchange), mixed.exchange)
      : unproven(`no such webhook was created (${outcomeOf(mixed.exchange)})`);
  }
  const byWildcard = deliveriesTo(deliveries, wildcard.hook);
  for (const event of ["agent.invoked", "agent.completed"] as const) {
    const [known] = eventsOfType(byWildcard, event);
    if (known === undefined || eventsOfType(deliveriesTo(all.deliveries, mixed.hook), event).length > 0) continue;
    return (
      missingDeliveryExcuse(reach, all, [mixed]) ??
      breach(`\`${event}\` also where \`agent.*\` is the second event`, "none came", known, mixed.exchange)
    );
  }
  return byWildcard.length > 0 ? holds() : unproven("no delivery came; see HOOK-8");
}

const isSignedByFirst = hasValidSignature;

function isSignedBySecond(delivery: Delivery): boolean {
  const [signature, ...more] = deliveryHeaderValues(delivery, headerNames.deliverySignature);
  return signature !== undefined && more.length === 0 && (delivery.otherSignatures ?? []).includes(signature);
}

/**
 * Minimum number of executions for a breach. After a single execution, two deliveries to the shared URL can be one
 * webhook's delivery and its duplicate.
 */
const minExecutions = 2;

function judgeOneUrl({ sameUrl, invoked, deliveries }: InvokedWithWebhooks): Finding<never> {
  if (sameUrl === undefined || sameUrl === null) return inapplicableForFewRequests;
  const { created } = sameUrl;
  const arrived = sameUrl.deliveries.filter((each) => isPublishedEvent(eventTypeOf(each)));
  if (!areTwoWebhooks(created)) return inapplicable("the target makes no second webhook of one URL");
  if (!deliveries.some((each) => each.computedSignature !== null && hasValidSignature(each)))
    return inapplicable("no delivery to another webhook has a valid signature; see HOOK-21");
  const foreign = arrived.find((each) => !isSignedByFirst(each) && !isSignedBySecond(each));
  if (foreign !== undefined)
    return breach("a signature by the secret of one of the two webhooks", "another signature", foreign, ...created);
  const [first, second] = [arrived.filter(isSignedByFirst), arrived.filter(isSignedBySecond)];
  if (first.length > 0 && second.length > 0) return holds();
  const completed = invoked.filter(isSuccess).length;
  // With fewer than two deliveries per execution, the target probably merges webhooks with the same URL.
  if (completed < minExecutions || arrived.length < 2 * completed)
    return inapplicable(`${arrived.length} deliveries came to one URL of two webhooks, after ${completed} executions`);
  return breach(
    "of two webhooks with one URL, each signs with its own secret",
    `all ${arrived.length} deliveries, two for each execution, are signed with the secret of the ${first.length > 0 ? "first" : "second"}`,
    ...arrived.slice(0, 2),
    ...created,
  );
}

export const webhookSecretChecks: readonly Check[] = [
  check("HOOK-21", webhookProbes, judgeSecrets, { as: "every kind of secret", since: "1.2" }),
  check("HOOK-16", webhookProbes, judgeMixedEvents, { as: "not the first event", since: "1.2" }),
  check("HOOK-21", invokedWithWebhooks, judgeOneUrl, { as: "two webhooks of one URL", since: "1.2" }),
];

/**
 * Returns the query of a URL, with percent escapes in upper case, e.g. `%2B`. A sender may normalize escapes like this
 * (RFC 3986 §6.2.2.1).
 */
const queryIn = (url: string): string =>
  (/\?.*$/.exec(url)?.[0] ?? "").replaceAll(/%[0-9a-f]{2}/gi, (escape) => escape.toUpperCase());

function judgeQuery({ sent: { odd }, all }: Evidence): Finding<never> {
  if (odd === undefined || odd === null) return inapplicableForFewRequests;
  const { exchange, hook } = odd[secretKindWithQuery];
  const url = getPath(sentJson(exchange.request), "url");
  const query = typeof url === "string" ? queryIn(url) : "";
  if (query === "") return unproven("no webhook has a URL with a query");
  if (!isSuccess(exchange))
    return inapplicable(`no webhook of a URL with a query was created (${outcomeOf(exchange)})`);
  const arrived = deliveriesTo(withoutPings(all.deliveries), hook);
  const isOther = ({ request }: Delivery): boolean => queryIn(request.url) !== query;
  const other = arrived.find(isOther);
  if (other === undefined)
    return arrived.length > 0 ? holds() : unproven("no delivery came to a webhook whose URL has a query");
  const actual = queryIn(other.request.url);
  return breach(
    `a delivery to the webhook's \`url\`, with its query ${formatValue(query)}`,
    actual === "" ? "no query" : `the query ${formatValue(actual)}`,
    other,
    exchange,
  );
}

export const urlQueryCheck = check("WHK-1", webhookProbes, judgeQuery, { as: "query", since: "1.2" });
