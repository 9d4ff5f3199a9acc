import { memoizeByObject, memoizeByPair, memoizeByValue } from "../../base/memoize.ts";
import { bodyJson, type Exchange, headerValues, sentJson, statusOf } from "../../evidence/exchange.ts";
import {
  type EndpointCall,
  type EndpointName,
  endpointNames,
  endpointsAtPath,
  type PublishedEndpoint,
  publishedEndpoints,
} from "../../spec/endpoints.ts";
import { errorStatuses } from "../../spec/errors.ts";
import { healthStatuses } from "../../spec/events.ts";
import { isOffered, profileOfSource } from "../../spec/profiles.ts";
import { isLaterThan, type RequirementSet } from "../../spec/requirements.ts";
import { probe } from "../../run/probe.ts";
import { withoutNetworkLosses } from "../../run/send/retry.ts";
import { usableKeys } from "../../target/target.ts";
import { getPath, isObject } from "../../base/json.ts";
import { isSuccess } from "./response.ts";
import { requestHeaderValues } from "../../evidence/client-call.ts";

/** Endpoints that every target has. A request to one needs only a key and an agent. */
export const coreEndpoints = ["invoke", "stream", "health", "list", "usage"] as const satisfies readonly EndpointName[];
export type CoreEndpoint = (typeof coreEndpoints)[number];

export interface AllExchanges {
  readonly exchanges: readonly Exchange[];
  /** Names of the keys without restriction: every endpoint must accept them. */
  readonly validKeys: readonly string[];
  /** Path for batches. `null` if the target file names none. Absent in evidence of earlier versions. */
  readonly batchPath?: string | null;
  /** Endpoints outside the target's profiles (parts of the interface). Absent if the target offers all. */
  readonly notOffered?: readonly EndpointName[];
  /** Whether agents may have been deployed again during the run. Absent in evidence of earlier versions. */
  readonly mayDeploy?: boolean;
  /** Total time by which the run advanced the target's clock. Absent in evidence of earlier versions. */
  readonly endClockMs?: number;
  /** Whether the run can advance the target's clock. Absent in evidence of earlier versions. */
  readonly canAdvance?: boolean;
  /** Times since the start of the run at which outages ended. Absent in evidence of earlier versions. */
  readonly returnsMs?: readonly number[];
}

/** Leaves out exchanges of probes newer than a requirement set. For caches, returns the same object if all stay. */
const exchangesOfSet = memoizeByPair((all: AllExchanges, requirements: RequirementSet): AllExchanges => {
  const exchanges = all.exchanges.filter(({ since }) => !isLaterThan(requirements, since));
  return exchanges.length === all.exchanges.length ? all : { ...all, exchanges };
});

/** Collects all exchanges of the run, except GET requests outside the base URL. */
export const allExchanges = probe(
  "all that was sent and seen is looked over",
  { requests: 0, stage: "review", narrow: exchangesOfSet },
  async ({ recorder, target, time, outages }): Promise<AllExchanges> => ({
    exchanges: withoutNetworkLosses(recorder.allExchanges()).filter(
      ({ request: { method, url } }) => method !== "GET" || url.startsWith(target.baseUrl),
    ),
    validKeys: usableKeys(target).map(({ name }) => name),
    batchPath: target.paths.batch,
    ...(target.offers === null
      ? {}
      : { notOffered: endpointNames.filter((name) => !isOffered(profileOfSource(name), target.offers)) }),
    // While the target was unreachable, its owner may have deployed another version of the agents.
    mayDeploy: Object.keys(target.triggers).length > 0 || outages.count() > 0,
    endClockMs: time.maxClockOffsetMs(),
    canAdvance: time.canAdvance,
    returnsMs: outages.all().flatMap(({ toMs }) => toMs ?? []),
  }),
);

/** Splits exchanges at the end of each outage, because a restarted server may count from zero again. */
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

/** Returns the endpoints at the path of a request, whatever its method. Empty for an unknown path. */
export const endpointsAtRequestPath = ({ request }: Pick<Exchange, "request">, all?: Paths): readonly EndpointCall[] =>
  endpointsAt(all?.batchPath ?? null)(request.url);

/** Returns the endpoint of a request; `null` if the document does not define this path with this method. */
export const endpointOf = (requested: Pick<Exchange, "request">, all?: Paths): EndpointName | null =>
  endpointsAtRequestPath(requested, all).find(
    ({ endpoint }) => publishedEndpoints[endpoint].method === requested.request.method,
  )?.endpoint ?? null;

const byEndpoint = memoizeByObject((all: AllExchanges) => Map.groupBy(all.exchanges, (each) => endpointOf(each, all)));

export const exchangesOf = (all: AllExchanges, endpoint: EndpointName): readonly Exchange[] =>
  byEndpoint(all).get(endpoint) ?? [];

export const successesOf = (all: AllExchanges, endpoint: EndpointName): Exchange[] =>
  exchangesOf(all, endpoint).filter(isSuccess);

/** Returns the agent's id in the path of a request, still percent-encoded. `null` if the path has none. */
export const agentInPath = (exchange: Exchange): string | null =>
  endpointsAtRequestPath(exchange)[0]?.parameters["agent_id"] ?? null;

const isDeclaredJson = ({ request }: Exchange): boolean =>
  requestHeaderValues(request, "Content-Type").some((value) => /^\s*application\/json\b/i.test(value));

/** Maximum length of a body that every server should accept. */
const maxBodyBytes = 64 * 1024;

/** Whether every server can read a request's body: short, in UTF-8, with the type `application/json`. */
export const hasPlainBody = ({ request, request: { body } }: Exchange): boolean =>
  requestHeaderValues(request, "Content-Type").includes("application/json") &&
  (body.kind === "none" || (body.kind === "text" && body.bytes <= maxBodyBytes));

/** Whether the document defines the endpoint, and the body, if any, is declared as JSON and parses as JSON. */
export function isSpecifiedRequest(exchange: Exchange, all?: AllExchanges): boolean {
  const { body } = exchange.request;
  if (endpointOf(exchange, all) === null) return false;
  if (body.kind === "none") return true;
  return isDeclaredJson(exchange) && sentJson(exchange.request) !== undefined;
}

const isErrorStatus = (exchange: Exchange): boolean => errorStatuses.includes(statusOf(exchange) ?? 0);

/** Whether the document specifies the response, such as an error for a body that is not valid JSON. */
const isSpecifiedResponse = (exchange: Exchange, all: AllExchanges): boolean =>
  isSpecifiedRequest(exchange, all) ||
  (isErrorStatus(exchange) && endpointOf(exchange, all) !== null && isDeclaredJson(exchange));

/** Whether a request has a key that is valid everywhere. False if signed, because the signature may be wrong. */
export const hasValidKey = ({ key, request }: Exchange, { validKeys }: Pick<AllExchanges, "validKeys">): boolean =>
  key !== null && validKeys.includes(key) && requestHeaderValues(request, "X-Signature").length === 0;

/** Returns the endpoints that accepted a valid key. On others, a rejection may have another cause. */
export const endpointsWithControl = memoizeByObject((all: AllExchanges): ReadonlySet<EndpointName> =>
  endpointsOf(
    all.exchanges.filter((each) => hasValidKey(each, all) && isSuccess(each)),
    all,
  ),
);

const foundEndpoints = memoizeByObject((all: AllExchanges) => endpointsOf(all.exchanges.filter(isSuccess), all));

const endpointsOf = (exchanges: readonly Exchange[], all: AllExchanges): ReadonlySet<EndpointName> =>
  new Set(exchanges.flatMap((each) => endpointOf(each, all) ?? []));

/** Returns the exchanges whose response the document specifies. */
export const specifiedExchanges = memoizeByObject((all: AllExchanges): readonly Exchange[] =>
  all.exchanges.filter((each) => isSpecifiedResponse(each, all) && !mayBeRouter404(each, all)),
);

/** Returns the responses that must have an error body. A health report with an error status need not. */
export const errorResponses = memoizeByObject((all: AllExchanges): readonly Exchange[] =>
  specifiedExchanges(all).filter((each) => isErrorStatus(each) && !isHealthReport(each)),
);

/** Whether the endpoint never succeeded. Then its 404 may come from a router that does not know the path. */
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

/** Returns the media type of a response in lower case, without parameters; `null` if the response has none. */
export const mediaTypeOf = (exchange: Exchange): string | null =>
  headerValues(exchange, "Content-Type")[0]?.split(";")[0]?.trim().toLowerCase() ?? null;
