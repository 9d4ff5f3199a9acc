import { headerOf } from "../../mutants/edits.ts";
import { isObject } from "../../../base/json.ts";
import { dimensions } from "../../../spec/dimensions.ts";
import { type EndpointName, endpointNames } from "../../../spec/endpoints.ts";
import { rateLimitHeaders } from "../../../spec/headers.ts";
import {
  hasNoTierKey,
  hasValues,
  isUsedUp,
  keysWith401,
  type RequestTraits,
  type WireResponse,
} from "../dimensions.ts";
import { jsonOf, withJsonBody } from "./bodies.ts";
import { isSuccess, type Mutation, mutation } from "./mutation.ts";

const limitedEndpoints = endpointNames.filter((name) => name !== "health");

/**
 * Creates a mutation that sends a refused request again, with an unrestricted key. `choose` returns the response that
 * the client gets; `null` means the original refusal.
 */
const letPass = (
  what: string,
  given: Pick<Mutation, "endpoints" | "prescribed" | "requires" | "breaks" | "appliesTo"> & Partial<Mutation>,
  choose: (passed: WireResponse, refusal: WireResponse, traits: RequestTraits) => WireResponse | null,
): Mutation =>
  mutation({
    class: "let pass",
    description: `let a ${what}`,
    ...given,
    change: {
      kind: "instead",
      of: async (refusal, traits, { resend, unrestrictedKey }) =>
        choose(await resend({ key: unrestrictedKey }), refusal, traits),
    },
  });

const invalidKeysAccepted: readonly Mutation[] = [
  ...keysWith401.map((key) =>
    letPass(
      `key pass that is ${key}`,
      {
        endpoints: endpointNames,
        prescribed: "401",
        requires: { key },
        breaks: key === "expired" ? ["AUTH-4"] : key === "outlived" ? ["KEY-3"] : ["AUTH-2", "AUTH-3", "AUTH-5"],
        appliesTo: ({ status }) => status === 401,
      },
      (passed, _refusal, traits) => {
        // The unrestricted key gets 404 for webhooks and operations of other keys. In that case, the mutation invents a
        // 200.
        if (passed.status === 404 && traits.values.agent.length === 0)
          return { ...passed, status: 200, body: Buffer.from('{"data":[]}') };
        // `null` keeps the original response. A 404 or 401 would not show that the server accepted the key.
        return passed.status === 404 || passed.status === 401 ? null : passed;
      },
    ),
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
    letPass(
      `key pass that is ${key}`,
      {
        endpoints,
        prescribed: "no success",
        requires: { key },
        breaks: [clause],
        // Even with a valid key, the server refuses an unknown agent or an invalid body.
        excludes: ({ agent, body }) => agent === "unknown" || dimensions.body.refused.some((each) => each === body),
        appliesTo: (traits) => !isSuccess(traits),
      },
      (passed) => (isSuccess(passed) ? passed : null),
    ),
  ),
  ...(["minute used up", "hour used up"] as const).map((state) =>
    letPass(
      `request pass with the ${state}`,
      {
        endpoints: limitedEndpoints,
        prescribed: "429",
        requires: { state },
        breaks: ["HDR-19", "LIM-1", "LIM-3"],
        excludes: hasNoTierKey,
        appliesTo: (traits) => traits.hasTierKey && traits.status === 429 && traits.remaining === 0,
      },
      (passed, refusal) => (isSuccess(passed) ? withRateHeadersOf(passed, refusal) : null),
    ),
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

const chargeMutation = (
  description: string,
  endpoints: readonly EndpointName[],
  breaks: Mutation["breaks"],
): Mutation =>
  mutation({
    class: "charge twice",
    description,
    endpoints,
    prescribed: "success",
    breaks,
    // Charges twice by reading `/usage`. Excludes used-up limits, where this read would get 429. Excludes a key's first
    // two requests, whose double charge a check can ascribe to another client.
    excludes: (values) => isUsedUp(values) || values.age === "first" || values.age === "second" || hasNoTierKey(values),
    appliesTo: (traits) => traits.hasTierKey && isSuccess(traits),
    change: { kind: "besides", of: async (_, { read }) => isSuccess(await read("/usage")) },
  });

function listPath(path: string, changes: Readonly<Record<string, string>>): string {
  const [route = "", query = ""] = path.split("?");
  const parameters = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) parameters.set(name, value);
  return `${route}?${parameters.toString()}`;
}

const pageMutations: readonly Mutation[] = [
  mutation({
    class: "another body",
    description: "the first page for a later one (list)",
    endpoints: ["list"],
    prescribed: "success",
    requires: { page: "second" },
    breaks: ["LST-7"],
    appliesTo: (traits) => isSuccess(traits) && hasValues(traits, { page: "second" }),
    change: {
      kind: "instead",
      of: async (_, __, { resend, path }) => resend({ path: listPath(path, { page: "1" }) }),
    },
  }),
  mutation({
    class: "another body",
    description: "more items than the limit (list)",
    endpoints: ["list"],
    prescribed: "success",
    breaks: ["LST-6"],
    // Excludes requests without `limit`, because the server then chooses the page size. A key's first two requests have
    // no `limit` either (see the probe `keysFirstUsed`).
    excludes: ({ page, limit, age }) => page === "absent" || limit === "absent" || age === "first" || age === "second",
    appliesTo: (traits) => isSuccess(traits) && !hasValues(traits, { page: "absent" }),
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

const otherEndpointBodies: readonly Mutation[] = (
  [
    ["invoke", { requests: { used: 1, limit: 10, remaining: 9 } }, "INV-2"],
    ["health", { result: { text: "Hello." } }, "HLT-3"],
    ["list", { period: "2026-03-01T00:00:00Z" }, "LST-2"],
    ["usage", { data: [], pagination: { page: 1, limit: 1, total: 0, pages: 0 } }, "USE-3"],
  ] as const
).map(([endpoint, body, clause]) =>
  mutation({
    class: "another body",
    description: `the body of another endpoint (${endpoint})`,
    endpoints: [endpoint],
    prescribed: "success",
    breaks: [clause],
    appliesTo: isSuccess,
    change: { kind: "body", of: (response) => withJsonBody(response, body) },
  }),
);

const shortDelaysMs = [1, 5, 15] as const;

const delayMutations = shortDelaysMs.map((ms) =>
  mutation({
    class: "legal: delay",
    description: `a delay of ${ms} ms`,
    endpoints: endpointNames,
    change: {
      kind: "besides",
      of: () => new Promise((resolve) => void setTimeout(() => resolve(true), ms)),
    },
  }),
);

const retryAfter = mutation({
  class: "legal: headers",
  description: "a Retry-After header on a 429",
  endpoints: limitedEndpoints,
  prescribed: "429",
  appliesTo: ({ status }) => status === 429,
  change: {
    kind: "body",
    of: (response) => {
      const body = jsonOf(response);
      const error = isObject(body) ? body["error"] : undefined;
      const seconds = isObject(error) ? error["retry_after"] : undefined;
      return typeof seconds !== "number" || headerOf(response.headers, "Retry-After") !== null
        ? null
        : { ...response, headers: [...response.headers, ["Retry-After", String(Math.ceil(seconds))]] };
    },
  },
});

export const requestMutations: readonly Mutation[] = [
  ...invalidKeysAccepted,
  chargeMutation(
    "charge twice",
    limitedEndpoints.filter((name) => name !== "operations"),
    ["HDR-12"],
  ),
  chargeMutation("charge health", ["health"], ["HLT-16"]),
  ...pageMutations,
  ...otherEndpointBodies,
  ...delayMutations,
  retryAfter,
];
