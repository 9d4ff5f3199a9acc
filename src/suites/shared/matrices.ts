import type { CoverageMatrix, DocumentedCell } from "../../run/judge/coverage.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import { type EndpointName, endpointNames, publishedEndpoints } from "../../spec/endpoints.ts";
import { errorStatuses } from "../../spec/errors.ts";
import { type FieldTableName, fieldTableOf, type MessageKind } from "../../spec/fields.ts";
import { coverageProbe } from "./coverage-probe.ts";

/** Creates a coverage matrix of responses. The coverage probe sends requests for cells that no other probe covers. */
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

/** Returns what a target needs, besides a key and an agent, so that an endpoint can answer with a status. */
function reachOf(endpoint: EndpointName, status: number): Enabler | null {
  // Only an invoke can cause a 500. A stream reports a failure in an `error` event, and a batch in its operation.
  if (status === 500) return endpoint === "invoke" ? need("agents.failing") : null;
  if (endpoint === "batch") return need("paths.batch");
  if (status === 429) return need("limit within reach");
  if (status >= 400) return null;
  if (endpoint === "operations") return need("paths.start");
  return endpoint === "webhooks" || endpoint === "alerts" || endpoint === "deliveries" ? need("receiver") : null;
}

/** Returns the cells of these endpoints and statuses, without combinations that the document excludes. */
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

/** Returns the coverage matrix of the messages whose fields a table of the document describes. */
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
