import type { ClauseId } from "../../../spec/clauses.ts";
import { type EndpointName, endpointNames } from "../../../spec/endpoints.ts";
import { getPath } from "../../../base/json.ts";
import { replaceAt } from "../../mutants/edits.ts";
import {
  type DimensionValues,
  type PrescribedResponse,
  type RequestTraits,
  type WireResponse,
  withWireHeader,
} from "../dimensions.ts";
import { jsonOf, withJsonBody } from "./bodies.ts";
import { isSuccess, type Mutation, mutation } from "./mutation.ts";

const successClauses: Readonly<Record<EndpointName, ClauseId>> = {
  invoke: "INV-1",
  stream: "SSE-1",
  health: "HLT-1",
  list: "LST-1",
  usage: "USE-1",
  webhooks: "WHK-1",
  deliveries: "WHK-7",
  alerts: "ALR-1",
  keyUsage: "KEY-9",
  operations: "OPS-3",
  batch: "BAT-1",
};

/**
 * Endpoints at which a valid request must get 200, except `stream`: the proxy keeps the status of a stream. Elsewhere,
 * the document leaves the status or method open.
 */
const endpointsWith200: readonly EndpointName[] = ["invoke", "health", "list", "usage", "keyUsage"];
const succeedingEndpoints = endpointNames.filter((name) => name !== "operations" && name !== "stream");
const withAgent: readonly EndpointName[] = ["invoke", "stream", "health"];
const limited = endpointNames.filter((name) => name !== "health" && name !== "operations");

const toError = (response: WireResponse, code: string, status: number): WireResponse => ({
  ...withWireHeader(response, "Content-Type", () => ["application/json"]),
  status,
  body: Buffer.from(JSON.stringify({ error: { code, message: "The request is refused.", status } })),
});

function withStatus(response: WireResponse, status: number): WireResponse {
  const body = jsonOf(response);
  const written =
    typeof getPath(body, "error", "status") === "number"
      ? withJsonBody(response, replaceAt(body, ["error", "status"], status))
      : response;
  return { ...written, status };
}

function withCode(response: WireResponse, code: string): WireResponse | null {
  const body = jsonOf(response);
  const before = getPath(body, "error", "code");
  return typeof before !== "string" || before === code
    ? null
    : withJsonBody(response, replaceAt(body, ["error", "code"], code));
}

interface StatusRow {
  readonly class: string;
  readonly what: string;
  readonly endpoints: readonly EndpointName[];
  readonly prescribed: PrescribedResponse;
  readonly breaks: (endpoint: EndpointName) => readonly ClauseId[];
  readonly requires?: DimensionValues;
  readonly appliesTo?: (traits: RequestTraits) => boolean;
  readonly of: (response: WireResponse) => WireResponse | null;
}

const mutationsPerEndpoint = ({ what, endpoints, breaks, of, ...rest }: StatusRow): Mutation[] =>
  endpoints.map((endpoint) =>
    mutation({
      ...rest,
      description: `${what} (${endpoint})`,
      endpoints: [endpoint],
      breaks: breaks(endpoint),
      change: { kind: "body", of },
    }),
  );

const refusalsOfValid = (
  [
    ["INVALID_INPUT", 400],
    ["INVALID_API_KEY", 401],
    ["FORBIDDEN", 403],
    ["INTERNAL_ERROR", 500],
  ] as const
).map(([code, status]): StatusRow => ({
  class: "refuse with another code",
  what: `${status} ${code} for a success`,
  endpoints: succeedingEndpoints,
  prescribed: "success",
  breaks: (endpoint) => [successClauses[endpoint]],
  appliesTo: isSuccess,
  of: (response) => toError(response, code, status),
}));

const hasStatus =
  (wanted: number) =>
  (traits: RequestTraits): boolean =>
    traits.status === wanted;

const otherStatus = (
  status: number,
  to: number,
  endpoints: readonly EndpointName[],
  breaks: readonly ClauseId[],
): StatusRow => ({
  class: to === 200 ? "answer 200 for an error" : "refuse with another code",
  what: `${to} for ${status}`,
  endpoints,
  prescribed: String(status) as PrescribedResponse,
  breaks: () => breaks,
  appliesTo: hasStatus(status),
  of: (response) => withStatus(response, to),
});

const otherCode = (
  status: number,
  code: string,
  endpoints: readonly EndpointName[],
  breaks: readonly ClauseId[],
  requires: DimensionValues = {},
): StatusRow => ({
  class: "refuse with another code",
  what: `code ${code} for that of ${status}${requires.key === undefined ? "" : ` of a key that is ${requires.key}`}`,
  endpoints,
  prescribed: String(status) as PrescribedResponse,
  breaks: () => breaks,
  requires,
  appliesTo: hasStatus(status),
  of: (response) => withCode(response, code),
});

const missingQuery: DimensionValues = { body: "without query" };

/** Mutations that answer an invalid key with a wrong error code, e.g. an expired key with `INVALID_API_KEY`. */
const wrongKeyCodes: readonly StatusRow[] = [
  ...(["wrong", "altered"] as const).map((key) =>
    otherCode(401, "EXPIRED_API_KEY", endpointNames, key === "wrong" ? ["AUTH-3"] : ["AUTH-3", "AUTH-5"], { key }),
  ),
  ...(["expired", "outlived"] as const).map((key) =>
    otherCode(401, "INVALID_API_KEY", endpointNames, key === "expired" ? ["AUTH-4"] : ["KEY-3"], { key }),
  ),
  ...(["wrong", "expired"] as const).map((key) =>
    otherCode(401, "UNAUTHORIZED", endpointNames, key === "wrong" ? ["AUTH-3"] : ["AUTH-4"], { key }),
  ),
];

const rows: readonly StatusRow[] = [
  ...refusalsOfValid,
  {
    class: "another status",
    what: "201 for 200",
    endpoints: endpointsWith200,
    prescribed: "success",
    breaks: (endpoint) => [successClauses[endpoint]],
    appliesTo: hasStatus(200),
    of: (response) => ({ ...response, status: 201 }),
  },
  ...[403, 400, 200].map((to) => otherStatus(401, to, endpointNames, ["AUTH-2", "AUTH-3", "AUTH-4", "AUTH-8"])),
  ...[400, 200, 500].map((to) => otherStatus(404, to, withAgent, ["INV-11", "SSE-21", "HLT-18"])),
  ...[503, 403, 200].map((to) => otherStatus(429, to, limited, ["LIM-12"])),
  ...[422, 500, 200].map((to) => ({
    ...otherStatus(400, to, ["invoke", "stream"], ["INV-10", "SSE-20"]),
    requires: missingQuery,
  })),
  ...wrongKeyCodes,
  otherCode(404, "NOT_FOUND", withAgent, ["INV-11", "SSE-21", "HLT-18"]),
  otherCode(404, "INVALID_INPUT", withAgent, ["INV-11", "SSE-21", "HLT-18"]),
  otherCode(429, "TOO_MANY_REQUESTS", limited, ["ERR-9"]),
  otherCode(400, "INVALID_INPUT", ["invoke"], ["INV-10"], missingQuery),
  otherCode(400, "AGENT_NOT_FOUND", ["invoke", "stream"], ["ERR-10"], missingQuery),
];

const legalError = (
  description: string,
  of: (response: WireResponse, body: unknown) => WireResponse | null,
): Mutation =>
  mutation({
    class: "legal: errors",
    description,
    endpoints: endpointNames,
    appliesTo: ({ status }) => status >= 400,
    change: {
      kind: "body",
      of: (response) => {
        const body = jsonOf(response);
        return getPath(body, "error", "code") === undefined ? null : of(response, body);
      },
    },
  });

export const statusMutations: readonly Mutation[] = [
  ...rows.flatMap(mutationsPerEndpoint),
  legalError("another message", (response, body) =>
    withJsonBody(response, replaceAt(body, ["error", "message"], "Das geht so nicht: \u00e9\u4e16\u754c.")),
  ),
  legalError("form B for form A", (response, body) =>
    response.status === 429 || getPath(body, "error", "status") === undefined
      ? null
      : withJsonBody(response, {
          status: "error",
          error: {
            code: getPath(body, "error", "code"),
            message: getPath(body, "error", "message"),
            details: { field: "query", reason: "missing" },
          },
        }),
  ),
];
