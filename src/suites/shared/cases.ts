import { memoizeByObject, memoizeByPair } from "../../base/memoize.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { valuesAt } from "../../rules/bodies/fields.ts";
import type { ClauseCase } from "../../run/judge/check-every.ts";
import type { Cell, CoverageMatrix, DocumentedCell } from "../../run/judge/coverage.ts";
import { type Finding, follows, holds } from "../../run/judge/finding.ts";
import { clauseOf, type JudgedId, type ReadingOf } from "../../spec/clauses.ts";
import { type EndpointName, endpointNames, publishedEndpoints } from "../../spec/endpoints.ts";
import { type FieldTableName, rowsOf, fieldTableOf, type MessageKind } from "../../spec/fields.ts";
import { type AllExchanges, endpointOf, exchangesOf } from "./all-exchanges.ts";
import { maxDurationIn } from "./durations.ts";
import { hasNonJsonBody, outcomeOf, isComplete } from "./response.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import { errorStatuses } from "../../spec/errors.ts";
import { coverageProbe } from "./coverage-probe.ts";

export interface JudgedResponse {
  readonly exchange: Exchange;
  /** The object that holds the endpoint's fields. It is the body itself, or an object inside the body, e.g. `data`. */
  readonly root: unknown;
  readonly tookMs: number;
}

export const responseCases = (exchanges: readonly Exchange[], all: AllExchanges): ClauseCase<Exchange>[] =>
  exchanges.map((exchange) => ({ cell: responseCell(exchange, all), proof: exchange, subject: exchange }));

export function bodyCases(
  endpoint: EndpointName,
  all: AllExchanges,
  isWanted: (exchange: Exchange) => boolean,
  rootOf: (exchange: Exchange) => unknown = bodyJson,
): ClauseCase<JudgedResponse>[] {
  const tookMs = maxDurationIn(all);
  const judged = judgedResponseBy(rootOf);
  return exchangesOf(all, endpoint)
    .filter((each) => each.key !== null && isWanted(each) && isWhole(each) && !hasNonJsonBody(each))
    .map((exchange) => ({
      cell: responseCell(exchange, all),
      proof: exchange,
      subject: judged(exchange, tookMs(exchange)),
    }));
}

/** Returns the same object for the same response, because checks cache their results by object. */
const judgedResponseBy = memoizeByObject((rootOf: (exchange: Exchange) => unknown) =>
  memoizeByPair((exchange: Exchange, tookMs: number): JudgedResponse => ({ exchange, root: rootOf(exchange), tookMs })),
);

const isWhole = (exchange: Exchange): boolean =>
  isComplete(exchange) && exchange.answer.kind === "answered" && exchange.answer.body.kind !== "cut";

export const responseCell = (exchange: Exchange, all: AllExchanges): Cell => ({
  of: endpointOf(exchange, all) ?? "other paths",
  kind: exchange.answer.kind === "answered" ? String(exchange.answer.status) : outcomeOf(exchange),
});

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

export const responseMatrix = (description: string, cells: readonly DocumentedCell[]): CoverageMatrix => ({
  description,
  cells,
  coverageProbe,
});

const responseCellOf = (of: EndpointName, status: number): DocumentedCell => ({
  of,
  kind: String(status),
  reach: reachOf(of, status),
});

/** Returns the setting that a target file must have before the endpoint can return this status. */
function reachOf(endpoint: EndpointName, status: number): Enabler | null {
  // A failed execution has status 500 only on invoke. Streams and batches report failures in other ways.
  if (status === 500) return endpoint === "invoke" ? need("agents.failing") : null;
  if (endpoint === "batch") return need("paths.batch");
  if (status === 429) return need("limit within reach");
  if (status >= 400) return null;
  if (endpoint === "operations") return need("paths.start");
  return endpoint === "webhooks" || endpoint === "alerts" || endpoint === "deliveries" ? need("receiver") : null;
}

export const responseCells = (
  statuses: readonly number[],
  endpoints: readonly EndpointName[] = endpointNames,
): readonly DocumentedCell[] =>
  endpoints.flatMap((endpoint) => {
    const known: readonly number[] = publishedEndpoints[endpoint].statuses;
    return statuses.filter((each) => known.includes(each)).map((status) => responseCellOf(endpoint, status));
  });

export const errorMatrix = (
  what: string,
  statuses: readonly number[] = errorStatuses,
  endpoints: readonly EndpointName[] = endpointNames,
): CoverageMatrix => {
  const where = endpoints.length === endpointNames.length ? "every published endpoint" : endpoints.join(", ");
  return responseMatrix(`every ${what} of ${where}`, responseCells(statuses, endpoints));
};

export function fieldMatrix(table: FieldTableName): CoverageMatrix {
  const { message } = fieldTableOf(table);
  return matrixByKind[message.kind](message as never);
}

const matrixByKind: {
  readonly [K in MessageKind["kind"]]: (message: Extract<MessageKind, { kind: K }>) => CoverageMatrix;
} = {
  answer: ({ endpoint, statuses }) =>
    responseMatrix(
      `every ${statuses.join(" and ")} response of ${endpoint}, with any parameters, page and key`,
      statuses.map((status) => responseCellOf(endpoint, status)),
    ),
  "stream event": ({ event }) => ({
    description: `every \`${event}\` event of every stream`,
    cells: [
      {
        of: "stream events",
        kind: event,
        reach: need(event === "error" ? "agents.failingInStream" : "agents.streaming"),
      },
    ],
    coverageProbe: null,
  }),
  delivery: ({ type }) => ({
    description: type === null ? "every delivery to a webhook" : `every delivery of \`${type}\``,
    cells: type === null ? [] : [{ of: "deliveries received", kind: type, reach: need("receiver") }],
    coverageProbe: null,
  }),
  error: ({ form, status }) => errorMatrix(`error in ${form}`, status === null ? errorStatuses : [status]),
  anywhere: () => ({ description: "every place where it occurs", cells: [], coverageProbe: null }),
};
