import { isObject } from "../../../base/json.ts";
import { dimensions } from "../../../spec/dimensions.ts";
import { type EndpointName, endpointNames } from "../../../spec/endpoints.ts";
import { rateLimitHeaders } from "../../../spec/headers.ts";
import { hasNoTierKey, hasValues, isUsedUp, keysWith401 } from "../dimensions.ts";
import { headerIn, type RequestTraits, type WireResponse } from "../message.ts";
import { jsonOf, withJsonBody } from "./bodies.ts";
import { isSuccess, type Operation, operation } from "./operation.ts";

const limited = endpointNames.filter((name) => name !== "health");
const hasTierKey = ({ hasTierKey: isOfTier }: RequestTraits): boolean => isOfTier;

/** Answers requests with invalid keys as if they had a valid key. */
const letPass: readonly Operation[] = [
  ...keysWith401.map((key) =>
    operation({
      class: "let pass",
      description: `let a key pass that is ${key}`,
      endpoints: endpointNames,
      outcome: "401",
      requires: { key },
      breaks: key === "expired" ? ["AUTH-4"] : key === "outlived" ? ["KEY-3"] : ["AUTH-2", "AUTH-3", "AUTH-5"],
      fits: ({ status }) => status === 401,
      change: {
        kind: "instead",
        of: async (_, traits, { again, goodKey }) => {
          const passed = await again({ key: goodKey });
          // 404: the webhook or operation belongs to another key, so the valid key cannot see it. A success is made up
          // instead.
          if (passed.status === 404 && traits.values.agent.length === 0)
            return { ...passed, status: 200, body: Buffer.from('{"data":[]}') };
          // If the agent does not exist, a server may answer 404 before it checks the key, so this is no illegal
          // response.
          return passed.status === 404 || passed.status === 401 ? null : passed;
        },
      },
    }),
  ),
  ...(
    [
      ["read-only", ["webhooks", "alerts"], "KEY-5"],
      ["one agent", ["invoke", "stream", "health"], "KEY-6"],
      ["other address", endpointNames, "KEY-7"],
      ["other scheme", endpointNames, "AUTH-6"],
      ["in Basic credentials", endpointNames, "AUTH-6"],
    ] as const
  ).map(([key, endpoints, clause]) =>
    operation({
      class: "let pass",
      description: `let a key pass that is ${key}`,
      endpoints,
      outcome: "no success",
      requires: { key },
      breaks: [clause],
      // With a valid key, these requests do not succeed either.
      excludes: ({ agent, body }) => agent === "unknown" || dimensions.body.refused.some((each) => each === body),
      fits: (traits) => !isSuccess(traits),
      change: {
        kind: "instead",
        of: async (_, __, { again, goodKey }) => {
          const passed = await again({ key: goodKey });
          return isSuccess(passed) ? passed : null;
        },
      },
    }),
  ),
  ...(["minute used up", "hour used up"] as const).map((state) =>
    operation({
      class: "let pass",
      description: `let a request pass with the ${state}`,
      endpoints: limited,
      outcome: "429",
      requires: { state },
      breaks: ["HDR-19", "LIM-1", "LIM-3"],
      excludes: hasNoTierKey,
      fits: (traits) => hasTierKey(traits) && traits.status === 429 && traits.remaining === 0,
      change: {
        kind: "instead",
        of: async (refusal, _, { again, goodKey }) => {
          const passed = await again({ key: goodKey });
          return isSuccess(passed) ? withRateHeadersOf(passed, refusal) : null;
        },
      },
    }),
  ),
];

const isRateHeader = (name: string): boolean =>
  rateLimitHeaders.some((each) => each.toLowerCase() === name.toLowerCase());

const withRateHeadersOf = (response: WireResponse, other: WireResponse): WireResponse => ({
  ...response,
  headers: [
    ...response.headers.filter(([name]) => !isRateHeader(name)),
    ...other.headers.filter(([name]) => isRateHeader(name)),
  ],
});

const charge = (description: string, endpoints: readonly EndpointName[], breaks: Operation["breaks"]): Operation =>
  operation({
    class: "charge twice",
    description,
    endpoints,
    outcome: "success",
    breaks,
    // While a limit of the key is used up, the second request that the operation sends would be refused.
    // A key has one first and one second request. If only one request is charged twice, another client may be the reason.
    excludes: (values) => isUsedUp(values) || values.age === "first" || values.age === "second" || hasNoTierKey(values),
    fits: (traits) => hasTierKey(traits) && isSuccess(traits),
    change: {
      kind: "besides",
      of: async (_, { read }) => isSuccess(await read("/usage")),
    },
  });

/** Returns the path of the list with another page or limit. */
function listPath(path: string, changes: Readonly<Record<string, string>>): string {
  const [route = "", query = ""] = path.split("?");
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) parameters.set(name, value);
  return `${route}?${parameters.toString()}`;
}

const pages: readonly Operation[] = [
  operation({
    class: "another body",
    description: "the first page for a later one (list)",
    endpoints: ["list"],
    outcome: "success",
    requires: { page: "second" },
    breaks: ["LST-7"],
    fits: (traits) => isSuccess(traits) && hasValues(traits, { page: "second" }),
    change: {
      kind: "instead",
      of: async (_, __, { again, path }) => again({ path: listPath(path, { page: "1" }) }),
    },
  }),
  operation({
    class: "another body",
    description: "more items than the limit (list)",
    endpoints: ["list"],
    outcome: "success",
    breaks: ["LST-6"],
    // If the request has no `limit`, the server chooses the limit, and a longer page is legal.
    excludes: ({ page, limit }) => page === "absent" || limit === "absent",
    fits: (traits) => isSuccess(traits) && !hasValues(traits, { page: "absent" }),
    change: {
      kind: "body",
      of: (response) => {
        const body = jsonOf(response);
        const data = isObject(body) ? body["data"] : undefined;
        const limit = isObject(body) && isObject(body["pagination"]) ? body["pagination"]["limit"] : undefined;
        if (!isObject(body) || !Array.isArray(data) || typeof limit !== "number" || data.length === 0) return null;
        const more: unknown[] = Array.from({ length: limit + 1 }, (_, at) => data[at % data.length] as unknown);
        return withJsonBody(response, { ...body, data: more });
      },
    },
  }),
];

/** Gives a response the body of another endpoint, which lacks required fields. */
const otherBodies: readonly Operation[] = (
  [
    ["invoke", { requests: { used: 1, limit: 10, remaining: 9 } }, "INV-2"],
    ["health", { result: { text: "Hello." } }, "HLT-3"],
    ["list", { period: "2026-03-01T00:00:00Z" }, "LST-2"],
    ["usage", { data: [], pagination: { page: 1, limit: 1, total: 0, pages: 0 } }, "USE-3"],
  ] as const
).map(([endpoint, body, clause]) =>
  operation({
    class: "another body",
    description: `the body of another endpoint (${endpoint})`,
    endpoints: [endpoint],
    outcome: "success",
    breaks: [clause],
    fits: isSuccess,
    change: { kind: "body", of: (response) => withJsonBody(response, body) },
  }),
);

/** Delays in milliseconds that no clause forbids. */
const shortDelaysMs = [1, 5, 15] as const;

const delays = shortDelaysMs.map((ms) =>
  operation({
    class: "legal: delay",
    description: `a delay of ${ms} ms`,
    endpoints: endpointNames,
    change: {
      kind: "besides",
      of: () => new Promise((resolve) => void setTimeout(() => resolve(true), ms)),
    },
  }),
);

const retryAfter = operation({
  class: "legal: headers",
  description: "a Retry-After header on a 429",
  endpoints: limited,
  outcome: "429",
  fits: ({ status }) => status === 429,
  change: {
    kind: "body",
    of: (response) => {
      const body = jsonOf(response);
      const error = isObject(body) ? body["error"] : undefined;
      const seconds = isObject(error) ? error["retry_after"] : undefined;
      return typeof seconds !== "number" || headerIn(response.headers, "Retry-After") !== null
        ? null
        : { ...response, headers: [...response.headers, ["Retry-After", String(Math.ceil(seconds))]] };
    },
  },
});

/** Operations that replace the response, delay it, or send a second request. */
export const requestOperations: readonly Operation[] = [
  ...letPass,
  charge(
    "charge twice",
    limited.filter((name) => name !== "operations"),
    ["HDR-12"],
  ),
  charge("charge health", ["health"], ["HLT-16"]),
  ...pages,
  ...otherBodies,
  ...delays,
  retryAfter,
];
