import { memoizeByObject, memoizeByPair } from "../../base/memoize.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import type { Member } from "../../run/judge/check-every.ts";
import type { Cell } from "../../run/judge/coverage.ts";
import { byEndpoint, endpointOf, type AllExchanges } from "./all-exchanges.ts";
import { maxDurationIn } from "./durations.ts";
import { hasNonJsonBody, outcomeOf } from "./response.ts";

/** An answer whose fields are judged. */
export interface JudgedResponse {
  readonly exchange: Exchange;
  /** What holds the endpoint's own fields. */
  readonly root: unknown;
  /** The longest that it took, by the target's clock. */
  readonly tookMs: number;
}

/** Answers, each in its cell. */
export const responseCases = (exchanges: readonly Exchange[], all: AllExchanges): Member<Exchange>[] =>
  exchanges.map((exchange) => ({ cell: responseCell(exchange, all), proof: exchange, subject: exchange }));

/** The answers of an endpoint, to whoever has a key, with bodies that can be judged; `rootOf` finds what holds its fields. */
export function bodyCases(
  endpoint: EndpointName,
  all: AllExchanges,
  isWanted: (exchange: Exchange) => boolean,
  rootOf: (exchange: Exchange) => unknown = bodyJson,
): Member<JudgedResponse>[] {
  const tookMs = maxDurationIn(all.exchanges);
  const seen = seenBy(rootOf);
  return (
    (byEndpoint(all).get(endpoint) ?? [])
      // That a stranger is answered at all is another breach.
      .filter((each) => each.key !== null && isWanted(each) && isWhole(each) && !hasNonJsonBody(each))
      .map((exchange) => ({
        cell: responseCell(exchange, all),
        proof: exchange,
        subject: seen(exchange, tookMs(exchange)),
      }))
  );
}

/** One object for each answer, so that what was said of it need not be said again. */
const seenBy = memoizeByObject((rootOf: (exchange: Exchange) => unknown) =>
  memoizeByPair((exchange: Exchange, tookMs: number): JudgedResponse => ({ exchange, root: rootOf(exchange), tookMs })),
);

/** Whether nothing but the target decided where the body ended, and it was kept whole. */
const isWhole = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.ending.kind === "complete" && answer.body.kind !== "cut";

/** Where an answer stands in the table of endpoints and statuses. */
export const responseCell = (exchange: Exchange, all: AllExchanges): Cell => ({
  of: endpointOf(exchange, all) ?? "other paths",
  kind: exchange.answer.kind === "answered" ? String(exchange.answer.status) : outcomeOf(exchange),
});
