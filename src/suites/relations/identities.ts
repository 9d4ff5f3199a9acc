import { isDeepStrictEqual } from "node:util";

import { formatValue } from "../../base/format-value.ts";
import { type Exchange, sentJson } from "../../evidence/exchange.ts";
import { type Check, check, type ProbesByName } from "../../run/judge/check.ts";
import { breach, holds, unproven } from "../../run/judge/finding.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import { alertCrossed, alertIdOf } from "../alerts/probes.ts";
import { batchSubmitted, handleOf } from "../operations/probes.ts";
import { allExchanges, type AllExchanges, splitAtReturns, exchangesOf } from "../shared/all-exchanges.ts";
import { describeStatus, hasStatus, isSuccess } from "../shared/response.ts";
import { webhookIdOf } from "../webhooks/create-webhook.ts";
import { invokedWithWebhooks } from "../webhooks/probes.ts";
import { secondAlertCreated } from "../alerts/checks.ts";
import { type ComparedPair, relation } from "./relation.ts";
import { fewRequests } from "../shared/few-requests.ts";

interface TwoCreations extends ComparedPair {
  readonly first: Exchange;
  readonly second: Exchange;
  readonly id: string;
  readonly firstId: string;
}

const creationPairs = (
  all: AllExchanges,
  endpoint: EndpointName,
  idOf: (exchange: Exchange) => string | null,
): TwoCreations[] =>
  splitAtReturns(exchangesOf(all, endpoint), all).flatMap((exchanges) => {
    const created = exchanges.flatMap((exchange) => {
      const id = idOf(exchange);
      return id === null ? [] : [{ exchange, id }];
    });
    return created.flatMap(({ exchange: second, id }, at) => {
      const earlier = created.slice(0, at).filter(({ exchange }) => !isSameRequest(exchange, second));
      const first = earlier.find((each) => each.id === id) ?? earlier[0];
      return first === undefined ? [] : [{ first: first.exchange, second, id, firstId: first.id }];
    });
  });

const isSameRequest = (one: Exchange, other: Exchange): boolean =>
  isDeepStrictEqual(sentJson(one.request), sentJson(other.request));

const judgeIds = ({ id, firstId }: TwoCreations) =>
  id === firstId ? { expected: "an id of its own", actual: `${formatValue(id)} for both` } : null;

function operationIdOf(exchange: Exchange): string | null {
  const id = isSuccess(exchange) ? handleOf(exchange).operationId : undefined;
  return typeof id === "string" ? id : null;
}

type CreationProbes = ProbesByName & { readonly all: typeof allExchanges };

const checkDistinctIds = (
  clause: "WHK-13" | "ALR-6" | "OPS-7",
  on: CreationProbes,
  kind: string,
  creationsIn: (all: AllExchanges) => TwoCreations[],
): Check =>
  relation<typeof clause, CreationProbes, TwoCreations>(clause, on, {
    between: kind,
    pairs: ({ all }) => creationsIn(all),
    judge: judgeIds,
    otherwise: unproven(`no two ${kind} have ids`),
  });

export const identityRelations = [
  checkDistinctIds("WHK-13", { all: allExchanges, created: invokedWithWebhooks }, "webhooks", (all) =>
    creationPairs(all, "webhooks", webhookIdOf),
  ),
  checkDistinctIds("ALR-6", { all: allExchanges, first: alertCrossed, second: secondAlertCreated }, "alerts", (all) =>
    creationPairs(all, "alerts", (each) => (isSuccess(each) ? alertIdOf(each) : null)),
  ),
  checkDistinctIds("OPS-7", { all: allExchanges, started: batchSubmitted }, "operations", (all) =>
    creationPairs(all, "batch", operationIdOf),
  ),
  check(
    "ALR-1",
    { first: alertCrossed, second: secondAlertCreated },
    ({ first: { created }, second }) => {
      if (!isSuccess(created)) return unproven("no first alert was created (ALR-1)");
      if (second === null) return fewRequests;
      if (isSuccess(second)) return holds();
      // A target is allowed to limit the number of alerts per key.
      if (hasStatus(second, 401, 403, 409, 429))
        return unproven(`the second alert was refused (${describeStatus(second)})`);
      return breach("a success, as for the first alert of the key", describeStatus(second), created, second);
    },
    { as: "second", since: "1.1" },
  ),
];
