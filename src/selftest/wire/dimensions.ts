import { creatingEndpoints, type Dimension, dimensions, exclusions, pairPartners } from "../../spec/dimensions.ts";
import { type EndpointName, postEndpoints } from "../../spec/endpoints.ts";
import { tierNames } from "../../spec/tiers.ts";
import { changeHeader } from "../mutants/edits.ts";
import type { Header } from "../../evidence/exchange.ts";

export interface RequestTraits {
  /** The endpoint of the request; `null` if the document does not define the path or the method. */
  readonly endpoint: EndpointName | null;
  /** Properties of the request, e.g. `key: ["wrong"]`. If an agent has two roles, `agent` lists both roles. */
  readonly values: Readonly<Record<Dimension, readonly string[]>>;
  readonly hasTierKey: boolean;
  readonly status: number;
  readonly accept: string;
  readonly contentType: string;
  readonly headerNames: readonly string[];
  readonly bodyLength: number;
  readonly bodyHasOnlyAscii: boolean;
  /** Seconds (0 to 59) of the time in the response's `Date` header; `null` without that header. */
  readonly second: number | null;
  readonly remaining: number | null;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Buffer;
}

export type WireHead = Omit<WireResponse, "body">;

export interface WireEvent {
  readonly name: string;
  readonly data: string;
}

export const withWireHeader = <T extends WireHead>(
  response: T,
  name: string,
  change: (value: string) => readonly string[],
): T => ({
  ...response,
  headers: changeHeader(response.headers, name, change),
});

/** Properties of a request: at most one value for each dimension, such as `{ key: "wrong" }`. */
export type DimensionValues = Readonly<Partial<Record<Dimension, string>>>;

/**
 * Dimensions (request properties such as `key`) that a mutant's condition may test. Excludes `method`, because the
 * document specifies only one method for each endpoint.
 */
export const conditionDimensions = (Object.keys(dimensions) as Dimension[]).filter((name) => name !== "method");

/**
 * Returns the values of a dimension, such as `body`, that a mutant's condition may test. Omits `none`, which means that
 * a request has no such property.
 */
export const valuesOf = (name: Dimension): readonly string[] =>
  dimensions[name].values.filter((value) => value !== "none");

export const hasValues = ({ values: own }: RequestTraits, values: DimensionValues): boolean =>
  Object.entries(values).every(([name, value]) => own[name as Dimension].includes(value));

export const isPossible = (values: DimensionValues): boolean =>
  [isAllowed, hasPossibleAge, isEndpointOfAge, hasPage, spendsTokens, mayCreate].every((is) => is(values));

/** Endpoints that get the first or the second request of a key in a run against the reference server. */
const endpointsByAge: Readonly<Partial<Record<string, readonly string[]>>> = {
  first: ["invoke", "stream", "health", "list"],
  second: ["invoke", "stream", "usage", "keyUsage"],
};

/**
 * Whether a run sends a key's first or second request (`age`) to the endpoint. `false` if the values name an age, an
 * endpoint and a key: a run has too few such requests.
 */
const isEndpointOfAge = ({ age = "", endpoint, key }: DimensionValues): boolean => {
  const endpoints = endpointsByAge[age];
  return endpoints === undefined || endpoint === undefined || (key === undefined && endpoints.includes(endpoint));
};

/** With `limit` 50, the reference server's list has no second or third page. */
const hasPage = ({ page, limit }: DimensionValues): boolean =>
  limit !== "50" || (page !== "second" && page !== "third");

/** Endpoints at which the reference server refuses requests once the month's tokens are spent. */
const endpointsWithTokens: readonly string[] = ["invoke", "stream", "batch"];

const spendsTokens = ({ state, endpoint }: DimensionValues): boolean =>
  state !== "tokens spent" || endpoint === undefined || endpointsWithTokens.includes(endpoint);

const mayCreate = (values: DimensionValues): boolean =>
  !isCreating(values.endpoint) || values.body !== "valid" || !isUsedUp(values);

export const takesPlainFieldsOnly = (agent: string): boolean =>
  exclusions.some(
    ({ when, only }) => only.query?.join() === "none,plain" && when.agent?.some((each) => each === agent) === true,
  );

/**
 * Whether the age fits the other values. An age, such as `first` for a key's first request, can be combined only with a
 * method, an endpoint and a valid key.
 */
const hasPossibleAge = ({ age, ...others }: DimensionValues): boolean =>
  age === undefined ||
  (!isRefusedKey(others) &&
    Object.keys(others).every((name) => name === "method" || pairPartners.age?.some((each) => each === name) === true));

const isAllowed = (values: DimensionValues): boolean =>
  exclusions.every(({ when, only }) => {
    const has = ([name, allowed]: [string, readonly string[]]): boolean =>
      allowed.includes(values[name as Dimension] ?? "");
    const isOpen = ([name]: [string, readonly string[]]): boolean => values[name as Dimension] === undefined;
    return !Object.entries(when).every(has) || Object.entries(only).every((rule) => isOpen(rule) || has(rule));
  });

/** Kinds of keys that must get 401. If the agent does not exist, 404 is also allowed. */
export const keysWith401 = [
  "missing",
  "wrong",
  "other prefix",
  "altered",
  "expired",
  "outlived",
  "in a cookie",
  "in another header",
  "in the query",
] as const;

/** Kinds of keys that must not get a success. The document does not say which error they get. */
const keysWithoutSuccess: readonly string[] = ["other scheme", "in Basic credentials", "other address"];

export const isTierKey = (key: string | undefined): boolean => tierNames.some((tier) => tier === key);

export const hasNoTierKey = ({ key, state }: DimensionValues): boolean =>
  (key !== undefined && !isTierKey(key)) || state === "tokens spent";

export const isUsedUp = ({ state }: DimensionValues): boolean => state !== undefined && state !== "fresh";

export const isForbidden = ({ key, endpoint, agent }: DimensionValues): boolean =>
  key === "other address" ||
  (key === "read-only" && postEndpoints.some((each) => each === endpoint)) ||
  (key === "one agent" && agent !== undefined && agent !== "answering");

export const isRefusedKey = ({ key }: DimensionValues): boolean => dimensions.key.refused.some((each) => each === key);

/** The response that the document prescribes for a request. `open`: the document prescribes none, or allows several. */
export type PrescribedResponse = "success" | "401" | "no success" | "404" | "400" | "429" | "5xx" | "open";

const failingInvokes: readonly string[] = ["failing", "timingOut", "unhealthy", "failingInStream", "overloaded"];

export const isCreating = (endpoint: string | undefined): boolean =>
  creatingEndpoints.some((each) => each === endpoint);

/**
 * Returns the response that the document prescribes. A dimension without a value counts as valid: no `body` means a
 * valid body. Exception: for the key `one agent`, a missing `agent` counts as another agent.
 */
export function prescribedResponse(
  endpoint: EndpointName,
  { key, agent, body, state, page }: DimensionValues,
): PrescribedResponse {
  const isUnknown = agent === "unknown";
  if (keysWith401.some((each) => each === key)) return isUnknown ? "open" : "401";
  if (keysWithoutSuccess.includes(key ?? "")) return "no success";
  if (key === "near quota") return "open";
  // A read-only key must not create webhooks or alerts. The document leaves open whether it may run agents.
  if (key === "read-only" && postEndpoints.includes(endpoint))
    return endpoint === "webhooks" || endpoint === "alerts" ? "no success" : "open";
  if (key === "one agent" && agent !== "answering") return "no success";
  const isMalformed = body !== undefined && body !== "valid" && body !== "spelled otherwise";
  const isLimited = isUsedUp({ state: state ?? "fresh" }) && endpoint !== "health";
  const refusals: PrescribedResponse[] = [
    ...(isLimited ? (["429"] as const) : []),
    ...(isUnknown ? (["404"] as const) : []),
    ...(isMalformed ? (["400"] as const) : []),
    ...(endpoint === "invoke" && failingInvokes.includes(agent ?? "") ? (["5xx"] as const) : []),
  ];
  if (body === "query of another type" || page === "beyond" || state === "tokens spent") return "open";
  return refusals.length > 1 ? "open" : (refusals[0] ?? "success");
}
