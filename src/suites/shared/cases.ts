import { memoizeByObject, memoizeByPair } from "../../base/memoize.ts";
import { bodyJson, type Exchange, sentJson } from "../../evidence/exchange.ts";
import { fieldMismatch, valuesAt } from "../../rules/bodies/fields.ts";
import { type Check, checkEvery, type ClauseCase, type EvidenceOf, type ProbesByName } from "../../run/judge/check.ts";
import {
  type Breach,
  breach,
  type Cell,
  type CoverageMatrix,
  type MatrixCell,
  type Finding,
  follows,
  holds,
  type Unproven,
  unproven,
} from "../../run/judge/finding.ts";
import { clauseOf, type JudgedId, type ReadingOf } from "../../spec/clauses.ts";
import { type EndpointName, endpointNames, publishedEndpoints } from "../../spec/endpoints.ts";
import { type FieldTableName, fieldTableOf, type MessageKind, rowsOf } from "../../spec/fields.ts";
import {
  type AllExchanges,
  allExchanges,
  type CoreEndpoint,
  endpointOf,
  exchangesOf,
  isSpecifiedRequest,
  successesOf,
} from "./all-exchanges.ts";
import { maxDurationMsBy } from "./durations.ts";
import { hasNonJsonBody, hasStatus, isComplete, outcomeOf } from "./response.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import { errorStatuses } from "../../spec/events-and-errors.ts";
import { coverageProbe } from "./coverage-probe.ts";
import { getPath } from "../../base/json.ts";
import type { Mismatch } from "../../rules/bodies/errors.ts";
import type { Probe } from "../../run/probe.ts";
import type { RequirementSet } from "../../spec/clause.ts";

export interface JudgedResponse {
  readonly exchange: Exchange;
  /** The object that holds the endpoint's fields. It is the body itself, or an object inside the body, e.g. `data`. */
  readonly root: unknown;
  readonly tookMs: number;
}

export const responseCases = (
  all: AllExchanges,
  exchanges: readonly Exchange[],
  isWanted: (exchange: Exchange) => boolean = () => true,
): ClauseCase<Exchange>[] =>
  exchanges
    .filter(isWanted)
    .map((exchange) => ({ cell: responseCell(exchange, all), proof: exchange, subject: exchange }));

export function bodyCases(
  endpoint: EndpointName,
  all: AllExchanges,
  isWanted: (exchange: Exchange) => boolean,
  rootOf: (exchange: Exchange) => unknown = bodyJson,
): ClauseCase<JudgedResponse>[] {
  const tookMs = maxDurationMsBy(all);
  const judged = judgedResponseBy(rootOf);
  return exchangesOf(all, endpoint)
    .filter((each) => each.key !== null && isWanted(each) && isWhole(each) && !hasNonJsonBody(each))
    .map((exchange) => ({
      cell: responseCell(exchange, all),
      proof: exchange,
      subject: judged(exchange, tookMs(exchange)),
    }));
}

/** Memoized, so that the same response is always the same object: checks cache their results by object. */
const judgedResponseBy = memoizeByObject((rootOf: (exchange: Exchange) => unknown) =>
  memoizeByPair((exchange: Exchange, tookMs: number): JudgedResponse => ({ exchange, root: rootOf(exchange), tookMs })),
);

const isWhole = (exchange: Exchange): boolean =>
  isComplete(exchange) && exchange.answer.kind === "answered" && exchange.answer.body.kind !== "cut";

export const responseCell = (exchange: Exchange, all: AllExchanges): Cell => ({
  of: endpointOf(exchange, all) ?? "other paths",
  kind: exchange.answer.kind === "answered" ? String(exchange.answer.status) : outcomeOf(exchange),
});

function judgePresence<K extends JudgedId>(
  table: FieldTableName,
  clause: K,
  subjects: readonly { readonly root: unknown }[],
  path = rowsOf(table, clause).at(0)?.path ?? "",
): Finding<ReadingOf<K>> {
  const { readings = {} } = clauseOf(clause);
  if (!("absent" in readings && "present" in readings)) return holds();
  const isPresent = subjects.some(({ root }) =>
    valuesAt(root, path).some(({ value }) => value !== undefined && value !== null),
  );
  return follows((isPresent ? "present" : "absent") as ReadingOf<K>);
}

export const responseMatrix = (description: string, cells: readonly MatrixCell[]): CoverageMatrix => ({
  description,
  cells,
  coverageProbe,
});

export const emptyMatrix = (description: string): CoverageMatrix => ({ description, cells: [], coverageProbe: null });

const responseCellOf = (of: EndpointName, status: number): MatrixCell => ({
  of,
  kind: String(status),
  reach: reachOf(of, status),
});

/** Returns the setting that a run needs before the endpoint can return this status; `null` if none is needed. */
function reachOf(endpoint: EndpointName, status: number): Enabler | null {
  // A failed execution has status 500 only on invoke. Streams and batches report failures in other ways.
  if (status === 500) return endpoint === "invoke" ? need("agents.failing") : null;
  if (endpoint === "batch") return need("paths.batch");
  if (status === 429) return need("limit within reach");
  if (status >= 400) return null;
  return fixtureNeeds[endpoint] ?? null;
}

export const fixtureNeeds: Readonly<Partial<Record<EndpointName, Enabler>>> = {
  webhooks: need("receiver"),
  deliveries: need("receiver"),
  alerts: need("receiver"),
  operations: need("paths.start"),
  batch: need("paths.batch"),
};

export const responseCells = (
  statuses: readonly number[],
  endpoints: readonly EndpointName[] = endpointNames,
): readonly MatrixCell[] =>
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
  anywhere: () => emptyMatrix("every place where it occurs"),
};

export function judgeOk(exchange: Exchange): { readonly kind: "holds" } | Breach | Unproven {
  if (hasStatus(exchange, 429)) return unproven("a limit refused the request (429)");
  return hasStatus(exchange, 200) ? holds() : breach("200", outcomeOf(exchange), exchange);
}

export const checkEverySuccess = (
  clause: "INV-1" | "SSE-1" | "HLT-1" | "LST-1" | "USE-1" | "KEY-9",
  endpoint: CoreEndpoint | "keyUsage",
  isOpen: (exchange: Exchange, all: AllExchanges) => boolean = () => false,
): Check =>
  checkEvery(clause, allExchanges, {
    as: "every",
    since: "1.1",
    matrix: responseMatrix(`every success of ${endpoint}`, responseCells([200], [endpoint])),
    members: (all: AllExchanges) =>
      responseCases(
        all,
        successesOf(all, endpoint),
        (each) => each.key !== null && isSpecifiedRequest(each, all) && !isOpen(each, all),
      ),
    judge: (exchange) => (hasStatus(exchange, 200) ? null : { expected: "200", actual: outcomeOf(exchange) }),
    whenEmpty: unproven("no request succeeded"),
  });

/**
 * Whether `query` is missing, empty or not a text, or `temperature` or `max_tokens` is out of range. INV-1 and SSE-1 do
 * not require 200 for such a request.
 */
export function mayBeRejectedAsInvalid({ request }: Exchange): boolean {
  const sent = sentJson(request);
  const query = getPath(sent, "query");
  const temperature = getPath(sent, "parameters", "temperature") ?? 0;
  const maxTokens = getPath(sent, "parameters", "max_tokens") ?? 1;
  const isInRange =
    typeof temperature === "number" &&
    temperature >= 0 &&
    temperature <= 2 &&
    Number.isInteger(maxTokens) &&
    Number(maxTokens) > 0;
  return typeof query !== "string" || query === "" || !isInRange;
}

interface FieldCheckOptions<E, T, R extends string> {
  readonly table: FieldTableName;
  readonly members: (evidence: E) => readonly ClauseCase<T>[];
  readonly whenEmpty: Finding<R> | ((evidence: E) => Finding<R>);
  readonly judge?: (subject: T) => Mismatch | null;
  readonly presencePath?: string;
  readonly as?: string;
  readonly since?: RequirementSet;
  readonly noun?: string;
}

export const checkFields = <
  const K extends JudgedId,
  const P extends Probe | ProbesByName,
  T extends { readonly root: unknown },
>(
  clause: K,
  on: P,
  { table, judge, presencePath, ...options }: FieldCheckOptions<EvidenceOf<P>, T, ReadingOf<K>>,
): Check =>
  checkEvery(clause, on, {
    ...options,
    matrix: fieldMatrix(table),
    judge: (subject: T) => {
      const mismatch = fieldMismatch(table, clause, subject.root);
      return mismatch === null && judge !== undefined ? judge(subject) : mismatch;
    },
    judgeAcross: (subjects: readonly T[]) => judgePresence(table, clause, subjects, presencePath),
  });
