import { memoizeByObject, memoizeByPair } from "../../base/memoize.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { valuesAt } from "../../rules/bodies/fields.ts";
import type { Member } from "../../run/judge/check-every.ts";
import type { Cell } from "../../run/judge/coverage.ts";
import { type Finding, follows, holds } from "../../run/judge/finding.ts";
import { clauseOf, type JudgedId, type ReadingOf } from "../../spec/clauses.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import { type FieldTableName, rowsOf } from "../../spec/fields.ts";
import { type AllExchanges, byEndpoint, endpointOf } from "./all-exchanges.ts";
import { maxDurationIn } from "./durations.ts";
import { hasNonJsonBody, outcomeOf } from "./response.ts";

/** A response whose fields are judged. */
export interface JudgedResponse {
  readonly exchange: Exchange;
  /** The object that has the endpoint's own fields. */
  readonly root: unknown;
  /** The longest time that the request may have taken, on the target's clock. */
  readonly tookMs: number;
}

export const responseCases = (exchanges: readonly Exchange[], all: AllExchanges): Member<Exchange>[] =>
  exchanges.map((exchange) => ({ cell: responseCell(exchange, all), proof: exchange, subject: exchange }));

/**
 * The responses of an endpoint whose JSON bodies can be judged, as cases of a coverage matrix. Leaves out responses to
 * requests without a key: other clauses judge those.
 *
 * @param rootOf finds the object that has the endpoint's own fields
 */
export function bodyCases(
  endpoint: EndpointName,
  all: AllExchanges,
  isWanted: (exchange: Exchange) => boolean,
  rootOf: (exchange: Exchange) => unknown = bodyJson,
): Member<JudgedResponse>[] {
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

/** Returns the same object for the same response, so that its judgement can be cached. */
const judgedResponseBy = memoizeByObject((rootOf: (exchange: Exchange) => unknown) =>
  memoizeByPair((exchange: Exchange, tookMs: number): JudgedResponse => ({ exchange, root: rootOf(exchange), tookMs })),
);

/** Whether the target sent the whole body and the evidence keeps all of it. */
const isWhole = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.ending.kind === "complete" && answer.body.kind !== "cut";

/** The cell of a response in the matrix of endpoints and statuses. */
export const responseCell = (exchange: Exchange, all: AllExchanges): Cell => ({
  of: endpointOf(exchange, all) ?? "other paths",
  kind: exchange.answer.kind === "answered" ? String(exchange.answer.status) : outcomeOf(exchange),
});

/**
 * Returns the reading `present` if any of the roots has the field, else `absent`. A clause without these two readings
 * holds.
 *
 * @param path of the field; by default that of the clause's first row in the table
 */
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
