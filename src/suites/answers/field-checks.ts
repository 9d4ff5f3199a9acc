import { oncePer, oncePerPair } from "../../base/once-per.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import type { EndpointName } from "../../interface/endpoints.ts";
import type { Member } from "../../run/universal.ts";
import type { Cell } from "../../run/universe.ts";
import { byEndpoint, endpointOf, type Everything } from "./recorded.ts";
import { targetTimeIn } from "./durations.ts";
import { hasOtherBody, outcomeOf } from "./shape.ts";

/** An answer whose fields are judged. */
export interface AnswerSeen {
  readonly exchange: Exchange;
  /** What holds the endpoint's own fields. */
  readonly root: unknown;
  /** The longest that it took, by the target's clock. */
  readonly tookMs: number;
}

/** Answers, each in its cell. */
export const membersOf = (exchanges: readonly Exchange[], all: Everything): Member<Exchange>[] =>
  exchanges.map((exchange) => ({ cell: answerCell(exchange, all), proof: exchange, subject: exchange }));

/** The answers of an endpoint, to whoever has a key, with bodies that can be judged; `rootOf` finds what holds its fields. */
export function answersSeen(
  endpoint: EndpointName,
  all: Everything,
  isWanted: (exchange: Exchange) => boolean,
  rootOf: (exchange: Exchange) => unknown = bodyJson,
): Member<AnswerSeen>[] {
  const tookMs = targetTimeIn(all.exchanges);
  const seen = seenBy(rootOf);
  return (
    (byEndpoint(all).get(endpoint) ?? [])
      // That a stranger is answered at all is another breach.
      .filter((each) => each.key !== null && isWanted(each) && isWhole(each) && !hasOtherBody(each))
      .map((exchange) => ({
        cell: answerCell(exchange, all),
        proof: exchange,
        subject: seen(exchange, tookMs(exchange)),
      }))
  );
}

/** One object for each answer, so that what was said of it need not be said again. */
const seenBy = oncePer((rootOf: (exchange: Exchange) => unknown) =>
  oncePerPair((exchange: Exchange, tookMs: number): AnswerSeen => ({ exchange, root: rootOf(exchange), tookMs })),
);

/** Whether nothing but the target decided where the body ended, and it was kept whole. */
const isWhole = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.ending.kind === "complete" && answer.body.kind !== "cut";

/** Where an answer stands in the table of endpoints and statuses. */
export const answerCell = (exchange: Exchange, all: Everything): Cell => ({
  of: endpointOf(exchange, all) ?? "other paths",
  kind: exchange.answer.kind === "answered" ? String(exchange.answer.status) : outcomeOf(exchange),
});
