import { errorStatuses } from "../../spec/errors.ts";
import { type EndpointName, endpointNames, publishedEndpoints } from "../../spec/endpoints.ts";
import { type MessageKind, type FieldTableName, fieldTableOf } from "../../spec/fields.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import type { DocumentedCell, CoverageMatrix } from "../../run/judge/coverage.ts";
import { coverageProbe } from "./coverage-probe.ts";

/** A set of answers; what of it nothing else sees is visited. */
export const responseMatrix = (description: string, cells: readonly DocumentedCell[]): CoverageMatrix => ({
  description,
  cells,
  coverageProbe: coverageProbe,
});

/** Answers of an endpoint with a status. */
export const responseCellOf = (of: EndpointName, status: number): DocumentedCell => ({
  of,
  kind: String(status),
  reach: reachOf(of, status),
});

/** What it takes to see an answer, besides a key and an agent. */
function reachOf(endpoint: EndpointName, status: number): Enabler | null {
  // A stream tells a failure by an event, and a batch by its operation: no request makes either answer 500.
  if (status === 500) return endpoint === "invoke" ? need("agents.failing") : null;
  if (endpoint === "batch") return need("paths.batch");
  if (status === 429) return need("limit within reach");
  if (status >= 400) return null;
  if (endpoint === "operations") return need("paths.start");
  return endpoint === "webhooks" || endpoint === "alerts" || endpoint === "deliveries" ? need("receiver") : null;
}

/** Answers of published endpoints with these statuses, where the document gives the endpoint such a status. */
export const responseCells = (
  statuses: readonly number[],
  endpoints: readonly EndpointName[] = endpointNames,
): readonly DocumentedCell[] =>
  endpoints.flatMap((endpoint) => {
    const known: readonly number[] = publishedEndpoints[endpoint].statuses;
    return statuses.filter((each) => known.includes(each)).map((status) => responseCellOf(endpoint, status));
  });

/** Errors of published endpoints. */
export const errorMatrix = (
  what: string,
  statuses: readonly number[] = errorStatuses,
  endpoints: readonly EndpointName[] = endpointNames,
): CoverageMatrix => {
  const where = endpoints.length === endpointNames.length ? "every published endpoint" : endpoints.join(", ");
  return responseMatrix(`every ${what} of ${where}`, responseCells(statuses, endpoints));
};

/** The universe of a table's rows. */
export function fieldMatrix(table: FieldTableName): CoverageMatrix {
  const { message } = fieldTableOf(table);
  return ofBearer[message.kind](message as never);
}

const ofBearer: { readonly [K in MessageKind["kind"]]: (of: Extract<MessageKind, { kind: K }>) => CoverageMatrix } = {
  answer: ({ endpoint, statuses }) =>
    responseMatrix(
      `every answer ${statuses.join(" and ")} of ${endpoint}, with whatever parameters, page and key`,
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
  anywhere: () => ({ description: "wherever it is seen", cells: [], coverageProbe: null }),
};
