import { memoizeByObject, memoizeByPair, memoizeByValue } from "../../base/memoize.ts";
import {
  bodyJson,
  type Exchange,
  headerValues,
  requestHeaderValues,
  sentJson,
  statusOf,
} from "../../evidence/exchange.ts";
import {
  type EndpointCall,
  type EndpointName,
  endpointNames,
  endpointsAtPath,
  type PublishedEndpoint,
  publishedEndpoints,
} from "../../spec/endpoints.ts";
import { errorStatuses, healthStatuses } from "../../spec/events-and-errors.ts";
import { isOffered, profileOfSource } from "../../spec/profiles.ts";
import { isAddedAfter, type RequirementSet } from "../../spec/clause.ts";
import { probe } from "../../run/probe.ts";
import { withoutNetworkLosses } from "../../run/send/retry.ts";
import { belowBaseUrl } from "../../target/base-url.ts";
import { type Target, usableKeys } from "../../target/target.ts";
import { getPath, isObject } from "../../base/json.ts";
import { isSuccess } from "./response.ts";

/** An endpoint that every target has. A request to such an endpoint needs only a key and an agent. */
export type CoreEndpoint = Extract<EndpointName, "invoke" | "stream" | "health" | "list" | "usage">;

export interface AllExchanges {
  readonly exchanges: readonly Exchange[];
  readonly validKeys: readonly string[];
  readonly batchPath?: string | null;
  readonly notOffered?: readonly EndpointName[];
  readonly mayDeploy?: boolean;
  readonly endClockMs?: number;
  readonly canAdvance?: boolean;
  /** Times at which outages ended; absent in evidence of earlier versions. */
  readonly returnsMs?: readonly number[];
}

/**
 * Leaves out the exchanges of probes that were added after the requirement set. If none is left out, returns `all`
 * itself, because checks cache results by object.
 */
const exchangesOfSet = memoizeByPair((all: AllExchanges, requirements: RequirementSet): AllExchanges => {
  const exchanges = all.exchanges.filter(({ since }) => !isAddedAfter(requirements, since));
  return exchanges.length === all.exchanges.length ? all : { ...all, exchanges };
});

/** Leaves out GET requests outside the base URL, where something else may answer. */
function exchangesWithTarget(exchanges: readonly Exchange[], { baseUrl }: Target): Exchange[] {
  const isBelow = belowBaseUrl(baseUrl);
  return exchanges.filter(({ request: { method, url } }) => method !== "GET" || isBelow(url));
}

export const allExchanges = probe(
  "all that was sent and seen is looked over",
  { requests: 0, stage: "review", narrow: exchangesOfSet },
  async ({ recorder, target, time, outages }): Promise<AllExchanges> => ({
    exchanges: exchangesWithTarget(withoutNetworkLosses(recorder.exchangesOutsideOutages()), target),
    validKeys: usableKeys(target).map(({ name }) => name),
    batchPath: target.paths.batch,
    ...(target.offers === null
      ? {}
      : { notOffered: endpointNames.filter((name) => !isOffered(profileOfSource(name), target.offers)) }),
    // During an outage, another version of an agent may have been deployed.
    mayDeploy: Object.keys(target.triggers).length > 0 || outages.count() > 0,
    endClockMs: time.maxClockOffsetMs(),
    canAdvance: time.canAdvance,
    returnsMs: outages.all().flatMap(({ toMs }) => toMs ?? []),
  }),
);

/** Splits exchanges at the end of each outage, because a restart may reset the server's counters and ids. */
export const splitAtReturns = <E extends Pick<Exchange, "sentMs">>(
  exchanges: readonly E[],
  { returnsMs = [] }: Pick<AllExchanges, "returnsMs">,
): (readonly E[])[] => [
  ...Map.groupBy(exchanges, ({ sentMs }) => returnsMs.filter((ms) => ms <= sentMs).length).values(),
];

type Paths = Pick<AllExchanges, "batchPath">;

const endpointsAt = memoizeByValue((batch: string | null) =>
  memoizeByValue((url: string) => endpointsAtPath(url, { batch })),
);

export const endpointsAtRequestPath = ({ request }: Pick<Exchange, "request">, all?: Paths): readonly EndpointCall[] =>
  endpointsAt(all?.batchPath ?? null)(request.url);

export const endpointOf = (requested: Pick<Exchange, "request">, all?: Paths): EndpointName | null =>
  endpointsAtRequestPath(requested, all).find(
    ({ endpoint }) => publishedEndpoints[endpoint].method === requested.request.method,
  )?.endpoint ?? null;

const byEndpoint = memoizeByObject((all: AllExchanges) => Map.groupBy(all.exchanges, (each) => endpointOf(each, all)));

export const exchangesOf = (all: AllExchanges, endpoint: EndpointName): readonly Exchange[] =>
  byEndpoint(all).get(endpoint) ?? [];

export const successesOf = (all: AllExchanges, endpoint: EndpointName): Exchange[] =>
  exchangesOf(all, endpoint).filter(isSuccess);

/** Returns the agent id in the request's path, still percent-encoded; `null` if the path has none. */
export const agentInPath = (exchange: Exchange): string | null =>
  endpointsAtRequestPath(exchange)[0]?.parameters["agent_id"] ?? null;

const isDeclaredJson = ({ request }: Exchange): boolean =>
  requestHeaderValues(request, "Content-Type").some((value) => /^\s*application\/json\b/i.test(value));

/** Every server should accept a request body of this size. */
const maxBodyBytes = 64 * 1024;

/** Whether the request is declared as JSON, and every server can read its body: empty, or short text in UTF-8. */
export const hasOrdinaryJsonBody = ({ request, request: { body } }: Exchange): boolean =>
  requestHeaderValues(request, "Content-Type").includes("application/json") &&
  (body.kind === "none" || (body.kind === "text" && body.bytes <= maxBodyBytes));

export function isSpecifiedRequest(exchange: Exchange, all?: AllExchanges): boolean {
  const { body } = exchange.request;
  if (endpointOf(exchange, all) === null) return false;
  if (body.kind === "none") return true;
  return isDeclaredJson(exchange) && sentJson(exchange.request) !== undefined;
}

const isErrorStatus = (exchange: Exchange): boolean => errorStatuses.includes(statusOf(exchange) ?? 0);

const isSpecifiedResponse = (exchange: Exchange, all: AllExchanges): boolean =>
  isSpecifiedRequest(exchange, all) ||
  (isErrorStatus(exchange) && endpointOf(exchange, all) !== null && isDeclaredJson(exchange));

/**
 * Whether the request has a key that is valid on every endpoint. Signed requests never count, because their signature
 * can be wrong.
 */
export const hasValidKey = ({ key, request }: Exchange, { validKeys }: Pick<AllExchanges, "validKeys">): boolean =>
  key !== null && validKeys.includes(key) && requestHeaderValues(request, "X-Signature").length === 0;

/**
 * Returns the endpoints that accepted a valid key. If an endpoint accepted no valid key, its rejections of invalid keys
 * can have other causes.
 */
export const endpointsWithControl = memoizeByObject((all: AllExchanges): ReadonlySet<EndpointName> =>
  endpointsOf(all, (each) => hasValidKey(each, all) && isSuccess(each)),
);

const foundEndpoints = memoizeByObject((all: AllExchanges) => endpointsOf(all, isSuccess));

const endpointsOf = (all: AllExchanges, isWanted: (exchange: Exchange) => boolean): ReadonlySet<EndpointName> =>
  new Set(all.exchanges.filter(isWanted).flatMap((each) => endpointOf(each, all) ?? []));

export const specifiedExchanges = memoizeByObject((all: AllExchanges): readonly Exchange[] =>
  all.exchanges.filter((each) => isSpecifiedResponse(each, all) && !mayBeRouter404(each, all)),
);

/** Returns the error responses without health reports, which may have an error status without an error body. */
export const errorResponses = memoizeByObject((all: AllExchanges): readonly Exchange[] =>
  specifiedExchanges(all).filter((each) => isErrorStatus(each) && !isHealthReport(each)),
);

/** Whether a response may be a router's 404 for an unknown path, rather than the endpoint's 404 for an unknown id. */
function mayBeRouter404(exchange: Exchange, all: AllExchanges): boolean {
  const endpoint = endpointOf(exchange, all);
  if (endpoint === null || statusOf(exchange) !== 404) return false;
  const { path, unspecified }: PublishedEndpoint = publishedEndpoints[endpoint];
  if (path?.includes("{") === true && !unspecified.includes("method")) return false;
  return !foundEndpoints(all).has(endpoint);
}

function isHealthReport(exchange: Exchange): boolean {
  if (endpointOf(exchange) !== "health") return false;
  const body = bodyJson(exchange);
  return isObject(getPath(body, "checks")) || healthStatuses.some((status) => status === getPath(body, "status"));
}

export const mediaTypeOf = (exchange: Exchange): string | null =>
  headerValues(exchange, "Content-Type")[0]?.split(";")[0]?.trim().toLowerCase() ?? null;
