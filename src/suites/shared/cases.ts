import { memoizeByObject, memoizeByPair } from "../../base/memoize.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { valuesAt } from "../../rules/bodies/fields.ts";
import type { ClauseCase } from "../../run/judge/check-every.ts";
import type { Cell } from "../../run/judge/coverage.ts";
import { type Finding, follows, holds } from "../../run/judge/finding.ts";
import { clauseOf, type JudgedId, type ReadingOf } from "../../spec/clauses.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import { type FieldTableName, rowsOf } from "../../spec/fields.ts";
import { type AllExchanges, byEndpoint, endpointOf } from "./all-exchanges.ts";
import { maxDurationIn } from "./durations.ts";
import { hasNonJsonBody, outcomeOf } from "./response.ts";

/** A response whose fields a check judges. */
export interface JudgedResponse {
  readonly exchange: Exchange;
  /** The object that contains the endpoint's fields: the body itself, or an object inside the envelope. */
  readonly root: unknown;
  /** Maximum duration of the request by the target's clock, in milliseconds. */
  readonly tookMs: number;
}

export const responseCases = (exchanges: readonly Exchange[], all: AllExchanges): ClauseCase<Exchange>[] =>
  exchanges.map((exchange) => ({ cell: responseCell(exchange, all), proof: exchange, subject: exchange }));

/** Returns the responses of an endpoint with a JSON body and a key of the target file. `rootOf` finds their fields. */
export function bodyCases(
  endpoint: EndpointName,
  all: AllExchanges,
  isWanted: (exchange: Exchange) => boolean,
  rootOf: (exchange: Exchange) => unknown = bodyJson,
): ClauseCase<JudgedResponse>[] {
  const tookMs = maxDurationIn(all);
  const judged = judgedResponseBy(rootOf);
  return (byEndpoint(all).get(endpoint) ?? [])
    .filter((each) => each.key !== null && isWanted(each) && isWhole(each) && !hasNonJsonBody(each))
    .map((exchange) => ({
      cell: responseCell(exchange, all),
      proof: exchange,
      subject: judged(exchange, tookMs(exchange)),
    }));
}

/** Returns a response in the form that checks judge, as one object each time, because checks cache by object. */
const judgedResponseBy = memoizeByObject((rootOf: (exchange: Exchange) => unknown) =>
  memoizeByPair((exchange: Exchange, tookMs: number): JudgedResponse => ({ exchange, root: rootOf(exchange), tookMs })),
);

/** Whether the target sent the whole body and the evidence keeps all of it. */
const isWhole = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.ending.kind === "complete" && answer.body.kind !== "cut";

/** Returns the endpoint and the status of a response, as its cell of the coverage matrix. */
export const responseCell = (exchange: Exchange, all: AllExchanges): Cell => ({
  of: endpointOf(exchange, all) ?? "other paths",
  kind: exchange.answer.kind === "answered" ? String(exchange.answer.status) : outcomeOf(exchange),
});

/** Returns the reading `present` if an object has the field, else `absent`. `holds` for a clause without readings. */
export function judgePresence<K extends JudgedId>(
  table: FieldTableName,
  clause: K,
  roots: readonly unknown[],
  path = rowsOf(table, clause).at(0)?.path ?? "",
): Finding<ReadingOf<K>> {
  const { readings = {} } = clauseOf(clause);
  if (!("absent" in readings && "present" in readings)) return holds();
  const isPresent = roots.some((root) =>
    valuesAt(root, path).some(({ value }) => value !== undefined && value !== null),
  );
  return follows((isPresent ? "present" : "absent") as ReadingOf<K>);
}
