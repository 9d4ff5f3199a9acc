import { errorStatuses } from "../../interface/errors.ts";
import { type EndpointName, endpointNames, publishedEndpoints } from "../../interface/endpoints.ts";
import { type Bearer, type FieldTableName, fieldTableOf } from "../../interface/fields.ts";
import { type Enabler, need } from "../../run/lack.ts";
import type { KnownCell, Universe } from "../../run/universe.ts";
import { cellsVisited } from "../coverage/visits.ts";

/** A set of answers; what of it nothing else sees is visited. */
export const answersUniverse = (says: string, cells: readonly KnownCell[]): Universe => ({
  says,
  cells,
  visitor: cellsVisited,
});

/** Answers of an endpoint with a status. */
export const answersWith = (of: EndpointName, status: number): KnownCell => ({
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
export const cellsWith = (
  statuses: readonly number[],
  endpoints: readonly EndpointName[] = endpointNames,
): readonly KnownCell[] =>
  endpoints.flatMap((endpoint) => {
    const known: readonly number[] = publishedEndpoints[endpoint].statuses;
    return statuses.filter((each) => known.includes(each)).map((status) => answersWith(endpoint, status));
  });

/** Errors of published endpoints. */
export const errorsUniverse = (
  what: string,
  statuses: readonly number[] = errorStatuses,
  endpoints: readonly EndpointName[] = endpointNames,
): Universe => {
  const where = endpoints.length === endpointNames.length ? "every published endpoint" : endpoints.join(", ");
  return answersUniverse(`every ${what} of ${where}`, cellsWith(statuses, endpoints));
};

/** The universe of a table's rows. */
export function universeOf(table: FieldTableName): Universe {
  const { of } = fieldTableOf(table);
  return ofBearer[of.kind](of as never);
}

const ofBearer: { readonly [K in Bearer["kind"]]: (of: Extract<Bearer, { kind: K }>) => Universe } = {
  answer: ({ endpoint, statuses }) =>
    answersUniverse(
      `every answer ${statuses.join(" and ")} of ${endpoint}, with whatever parameters, page and key`,
      statuses.map((status) => answersWith(endpoint, status)),
    ),
  "stream event": ({ event }) => ({
    says: `every \`${event}\` event of every stream`,
    cells: [
      {
        of: "stream events",
        kind: event,
        reach: need(event === "error" ? "agents.failingInStream" : "agents.streaming"),
      },
    ],
    visitor: null,
  }),
  delivery: ({ type }) => ({
    says: type === null ? "every delivery to a webhook" : `every delivery of \`${type}\``,
    cells: type === null ? [] : [{ of: "deliveries received", kind: type, reach: need("receiver") }],
    visitor: null,
  }),
  error: ({ form, status }) => errorsUniverse(`error in ${form}`, status === null ? errorStatuses : [status]),
  anywhere: () => ({ says: "wherever it is seen", cells: [], visitor: null }),
};
