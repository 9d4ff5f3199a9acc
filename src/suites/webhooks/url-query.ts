import { getPath } from "../../base/json.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import { sentJson } from "../../evidence/exchange.ts";
import { check, type EvidenceOf } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { formatValue } from "../../base/format-value.ts";
import { allDeliveries } from "../deliveries/probes.ts";
import { fewRequests } from "../shared/few-requests.ts";
import { isSuccess, outcomeOf } from "../shared/response.ts";
import { deliveriesTo } from "./await-deliveries.ts";
import { invokedWithWebhooks } from "./probes.ts";
import { secretOfQuery } from "./unusual-webhooks.ts";

const on = { sent: invokedWithWebhooks, all: allDeliveries };

/** Returns the query of a URL, with its escapes in upper case: a sender may normalize them (RFC 3986 §6.2.2.1). */
const queryIn = (url: string): string =>
  (/\?.*$/.exec(url)?.[0] ?? "").replaceAll(/%[0-9a-f]{2}/gi, (escape) => escape.toUpperCase());

function judgeQuery({ sent: { odd }, all }: EvidenceOf<typeof on>): Finding<never> {
  if (odd === undefined || odd === null) return fewRequests;
  const { exchange, hook } = odd[secretOfQuery];
  const url = getPath(sentJson(exchange.request), "url");
  const query = typeof url === "string" ? queryIn(url) : "";
  if (query === "") return unproven("no webhook has a URL with a query");
  if (!isSuccess(exchange))
    return inapplicable(`no webhook of a URL with a query was created (${outcomeOf(exchange)})`);
  const arrived = deliveriesTo(all.deliveries, hook);
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

export const urlQueryCheck = check("WHK-1", on, judgeQuery, { as: "query", since: "1.2" });
