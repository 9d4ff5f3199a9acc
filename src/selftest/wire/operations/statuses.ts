import type { ClauseId } from "../../../spec/clauses.ts";
import { type EndpointName, endpointNames } from "../../../spec/endpoints.ts";
import type { ErrorCodeName } from "../../../spec/errors.ts";
import { getPath } from "../../../base/json.ts";
import { changedAt } from "../../mutants/edits.ts";
import type { Outcome, Values } from "../dimensions.ts";
import { type RequestTraits, withWireHeader, type WireResponse } from "../message.ts";
import { jsonOf, withJsonBody } from "./bodies.ts";
import { isSuccess, type Operation, operation } from "./operation.ts";

/** For each endpoint: the clause that demands that a valid request succeeds. */
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
 * Endpoints at which a valid request must get 200. For the others, the document leaves the status or the method open.
 */
const with200: readonly EndpointName[] = ["invoke", "health", "list", "usage", "keyUsage"];
const succeeding = endpointNames.filter((name) => name !== "operations" && name !== "stream");
const withAgent: readonly EndpointName[] = ["invoke", "stream", "health"];
const limited = endpointNames.filter((name) => name !== "health" && name !== "operations");

const errorBody = (code: string, status: number): Buffer =>
  Buffer.from(JSON.stringify({ error: { code, message: "The request is refused.", status } }));

/** Turns a response into an error of form A. Keeps its other headers. */
const refused = (response: WireResponse, code: string, status: number): WireResponse => ({
  ...withWireHeader(response, "Content-Type", () => ["application/json"]),
  status,
  body: errorBody(code, status),
});

/** Changes the status of a response. If the body has form A, changes `error.status` as well. */
function withStatus(response: WireResponse, status: number): WireResponse {
  const body = jsonOf(response);
  const written =
    typeof getPath(body, "error", "status") === "number"
      ? withJsonBody(response, changedAt(body, ["error", "status"], status))
      : response;
  return { ...written, status };
}

function withCode(response: WireResponse, code: string): WireResponse | null {
  const body = jsonOf(response);
  const before = getPath(body, "error", "code");
  return typeof before !== "string" || before === code
    ? null
    : withJsonBody(response, changedAt(body, ["error", "code"], code));
}

interface StatusRow {
  readonly class: string;
  readonly what: string;
  readonly endpoints: readonly EndpointName[];
  readonly outcome: Outcome;
  readonly breaks: (endpoint: EndpointName) => readonly ClauseId[];
  readonly requires?: Values;
  readonly fits?: (traits: RequestTraits) => boolean;
  readonly of: (response: WireResponse) => WireResponse | null;
}

const expand = ({
  class: name,
  what,
  endpoints,
  outcome,
  breaks,
  requires = {},
  fits = () => true,
  of,
}: StatusRow): Operation[] =>
  endpoints.map((endpoint) =>
    operation({
      class: name,
      description: `${what} (${endpoint})`,
      endpoints: [endpoint],
      outcome,
      breaks: breaks(endpoint),
      requires,
      fits,
      change: { kind: "body", of },
    }),
  );

const refusals: readonly (readonly [code: ErrorCodeName | "INTERNAL_ERROR" | "FORBIDDEN", status: number])[] = [
  ["INVALID_INPUT", 400],
  ["INVALID_API_KEY", 401],
  ["FORBIDDEN", 403],
  ["INTERNAL_ERROR", 500],
];

/** Answers valid requests with errors. */
const refuseValid: readonly StatusRow[] = refusals.map(([code, status]) => ({
  class: "refuse with another code",
  what: `${status} ${code} for a success`,
  endpoints: succeeding,
  outcome: "success",
  breaks: (endpoint) => [successClauses[endpoint]],
  fits: isSuccess,
  of: (response) => refused(response, code, status),
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
  outcome: String(status) as Outcome,
  breaks: () => breaks,
  fits: hasStatus(status),
  of: (response) => withStatus(response, to),
});

const otherCode = (
  status: number,
  code: string,
  endpoints: readonly EndpointName[],
  breaks: readonly ClauseId[],
  requires: Values = {},
): StatusRow => ({
  class: "refuse with another code",
  what: `code ${code} for that of ${status}${requires.key === undefined ? "" : ` of a key that is ${requires.key}`}`,
  endpoints,
  outcome: String(status) as Outcome,
  breaks: () => breaks,
  requires,
  fits: hasStatus(status),
  of: (response) => withCode(response, code),
});

const missingQuery: Values = { body: "without query" };
const all401 = endpointNames;

/** Gives a 401 an error code that the document reserves for another kind of key. */
const keyCodes: readonly StatusRow[] = [
  ...(["wrong", "altered"] as const).map((key) =>
    otherCode(401, "EXPIRED_API_KEY", all401, key === "wrong" ? ["AUTH-3"] : ["AUTH-3", "AUTH-5"], { key }),
  ),
  ...(["expired", "outlived"] as const).map((key) =>
    otherCode(401, "INVALID_API_KEY", all401, key === "expired" ? ["AUTH-4"] : ["KEY-3"], { key }),
  ),
  ...(["wrong", "expired"] as const).map((key) =>
    otherCode(401, "UNAUTHORIZED", all401, key === "wrong" ? ["AUTH-3"] : ["AUTH-4"], { key }),
  ),
];

const rows: readonly StatusRow[] = [
  ...refuseValid,
  {
    class: "another status",
    what: "201 for 200",
    endpoints: with200,
    outcome: "success",
    breaks: (endpoint) => [successClauses[endpoint]],
    fits: hasStatus(200),
    of: (response) => ({ ...response, status: 201 }),
  },
  otherStatus(401, 403, all401, ["AUTH-2", "AUTH-3", "AUTH-4", "AUTH-8"]),
  otherStatus(401, 400, all401, ["AUTH-2", "AUTH-3", "AUTH-4", "AUTH-8"]),
  otherStatus(401, 200, all401, ["AUTH-2", "AUTH-3", "AUTH-4", "AUTH-8"]),
  otherStatus(404, 400, withAgent, ["INV-11", "SSE-21", "HLT-18"]),
  otherStatus(404, 200, withAgent, ["INV-11", "SSE-21", "HLT-18"]),
  otherStatus(404, 500, withAgent, ["INV-11", "SSE-21", "HLT-18"]),
  otherStatus(429, 503, limited, ["LIM-12"]),
  otherStatus(429, 403, limited, ["LIM-12"]),
  otherStatus(429, 200, limited, ["LIM-12"]),
  ...[422, 500, 200].map((to) => ({
    ...otherStatus(400, to, ["invoke", "stream"], ["INV-10", "SSE-20"]),
    requires: missingQuery,
  })),
  ...keyCodes,
  otherCode(404, "NOT_FOUND", withAgent, ["INV-11", "SSE-21", "HLT-18"]),
  otherCode(404, "INVALID_INPUT", withAgent, ["INV-11", "SSE-21", "HLT-18"]),
  otherCode(429, "TOO_MANY_REQUESTS", limited, ["ERR-9"]),
  otherCode(400, "INVALID_INPUT", ["invoke"], ["INV-10"], missingQuery),
  otherCode(400, "AGENT_NOT_FOUND", ["invoke", "stream"], ["ERR-10"], missingQuery),
];

const legalError = (
  description: string,
  of: (response: WireResponse, body: unknown) => WireResponse | null,
): Operation =>
  operation({
    class: "legal: errors",
    description,
    endpoints: endpointNames,
    fits: ({ status }) => status >= 400,
    change: {
      kind: "body",
      of: (response) => {
        const body = jsonOf(response);
        return getPath(body, "error", "code") === undefined ? null : of(response, body);
      },
    },
  });

/** Operations that change statuses and error codes. */
export const statusOperations: readonly Operation[] = [
  ...rows.flatMap(expand),
  legalError("another message", (response, body) =>
    withJsonBody(response, changedAt(body, ["error", "message"], "Das geht so nicht: \u00e9\u4e16\u754c.")),
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
