import { memoizeByObject, memoizeByPair, memoizeByValue } from "../../base/memoize.ts";
import { bodyJson, type Exchange, headerValues, sentJson, statusOf } from "../../evidence/exchange.ts";
import {
  type EndpointCall,
  type EndpointName,
  endpointsAtPath,
  type PublishedEndpoint,
  publishedEndpoints,
} from "../../spec/endpoints.ts";
import { errorStatuses } from "../../spec/errors.ts";
import { healthStatuses } from "../../spec/events.ts";
import { isLaterThan, type RequirementSet } from "../../spec/requirements.ts";
import { probe } from "../../run/probe.ts";
import { withoutNetworkLosses } from "../../run/send/retry.ts";
import { usableKeys } from "../../target/target.ts";
import { getPath, isObject } from "../../base/json.ts";
import { isSuccess } from "./response.ts";

/** The endpoints that every target has and that need only a key and an agent. */
export const coreEndpoints = ["invoke", "stream", "health", "list", "usage"] as const satisfies readonly EndpointName[];
export type CoreEndpoint = (typeof coreEndpoints)[number];

/** All requests of a run and their responses. */
export interface AllExchanges {
  readonly exchanges: readonly Exchange[];
  /** Names of the keys that are valid for every request. */
  readonly validKeys: readonly string[];
  /** Path of a batch, if the target file has one. Absent in the evidence of earlier versions. */
  readonly batchPath?: string | null;
  /** Whether agents may have been deployed anew during the run, by triggers or while the target was away. Absent in the evidence of earlier versions. */
  readonly mayDeploy?: boolean;
  /** Maximum offset of the target's test clock at the end of the run. Absent in the evidence of earlier versions. */
  readonly endClockMs?: number;
  /** Whether the run can advance the target's clock, which may stand still otherwise. Absent in the evidence of earlier versions. */
  readonly canAdvance?: boolean;
  /** When the target came back after each time away, in milliseconds since the start of the run. Absent in the evidence of earlier versions. */
  readonly returnsMs?: readonly number[];
}

/**
 * Returns the exchanges without those of probes of later sets. Returns the same object for the same evidence, because checks cache results by object.
 */
const exchangesOfSet = memoizeByPair((all: AllExchanges, requirements: RequirementSet): AllExchanges => {
  const exchanges = all.exchanges.filter(({ since }) => !isLaterThan(requirements, since));
  return exchanges.length === all.exchanges.length ? all : { ...all, exchanges };
});

/**
 * Collects all exchanges of the run, for checks of rules that apply to every response. Leaves out GET requests to paths
 * outside the base URL, where something else may answer.
 */
export const allExchanges = probe(
  "all that was sent and seen is looked over",
  { requests: 0, stage: "review", narrow: exchangesOfSet },
  async ({ recorder, target, time, outages }): Promise<AllExchanges> => ({
    exchanges: withoutNetworkLosses(recorder.allExchanges()).filter(
      ({ request: { method, url } }) => method !== "GET" || url.startsWith(target.baseUrl),
    ),
    validKeys: usableKeys(target).map(({ name }) => name),
    batchPath: target.paths.batch,
    // A target that was away may have been deployed anew.
    mayDeploy: Object.keys(target.triggers).length > 0 || outages.count() > 0,
    endClockMs: time.maxClockOffsetMs(),
    canAdvance: time.canAdvance,
    returnsMs: outages.all().flatMap(({ toMs }) => toMs ?? []),
  }),
);

/** Splits exchanges at each return of the target: a server that was restarted may count and measure from zero again. */
export const splitAtReturns = <E extends Pick<Exchange, "sentMs">>(
  exchanges: readonly E[],
  { returnsMs = [] }: Pick<AllExchanges, "returnsMs">,
): (readonly E[])[] => [
  ...Map.groupBy(exchanges, ({ sentMs }) => returnsMs.filter((ms) => ms <= sentMs).length).values(),
];

type Requested = Pick<Exchange, "request">;
type Paths = Pick<AllExchanges, "batchPath">;

/**
 * The endpoints at a URL. Cached, because a run with a hundred thousand requests has only a few hundred URLs, and every
 * check needs them.
 */
const endpointsAt = memoizeByValue((batch: string | null) =>
  memoizeByValue((url: string) => endpointsAtPath(url, { batch })),
);

/** The endpoints at the path of a request, for any method. Empty if neither the document nor the target file has the path. */
export const endpointsAtRequestPath = ({ request }: Requested, all?: Paths): readonly EndpointCall[] =>
  endpointsAt(all?.batchPath ?? null)(request.url);

/** The endpoint of a request; `null` if the document does not define its path and method. */
export const endpointOf = (requested: Requested, all?: Paths): EndpointName | null =>
  endpointsAtRequestPath(requested, all).find(
    ({ endpoint }) => publishedEndpoints[endpoint].method === requested.request.method,
  )?.endpoint ?? null;

/** The exchanges of each endpoint, in the order of the run. */
export const byEndpoint = memoizeByObject((all: AllExchanges) =>
  Map.groupBy(all.exchanges, (each) => endpointOf(each, all)),
);

/** The id of the agent in the path of a request, still percent-encoded. */
export const agentInPath = (exchange: Exchange): string | null =>
  endpointsAtRequestPath(exchange)[0]?.parameters["agent_id"] ?? null;

const isDeclaredJson = ({ request: { headers } }: Exchange): boolean =>
  headers.some(([name, value]) => name.toLowerCase() === "content-type" && /^\s*application\/json\b/i.test(value));

/** Longer bodies may be refused for their length. */
const maxBodyBytes = 64 * 1024;

/** Whether a server must read a body: it is short, and declared as `application/json` without parameters. */
export const hasPlainBody = ({ request: { headers, body } }: Exchange): boolean =>
  headers.some(([name, value]) => name.toLowerCase() === "content-type" && value === "application/json") &&
  (body.kind === "none" || (body.kind !== "cut" && body.bytes <= maxBodyBytes));

/** Whether the document covers a request: it defines the endpoint, and the body, if any, is declared as JSON and parses. */
export function isSpecifiedRequest(exchange: Exchange, all?: AllExchanges): boolean {
  const { body } = exchange.request;
  if (endpointOf(exchange, all) === null) return false;
  if (body.kind === "none") return true;
  return isDeclaredJson(exchange) && sentJson(exchange.request) !== undefined;
}

const isErrorStatus = (exchange: Exchange): boolean => errorStatuses.includes(statusOf(exchange) ?? 0);

/** Whether the document covers a response: it covers the request, or malformed JSON was rejected. */
const isSpecifiedResponse = (exchange: Exchange, all: AllExchanges): boolean =>
  isSpecifiedRequest(exchange, all) ||
  (isErrorStatus(exchange) && endpointOf(exchange, all) !== null && isDeclaredJson(exchange));

/** Whether the key of a request is valid for everything. A signed request does not count: its signature may be rejected. */
export const hasValidKey = ({ key, request }: Exchange, { validKeys }: Pick<AllExchanges, "validKeys">): boolean =>
  key !== null && validKeys.includes(key) && !request.headers.some(([name]) => name.toLowerCase() === "x-signature");

/** Endpoints that accepted a valid key: the positive control for requests that they reject. */
export const endpointsWithControl = memoizeByObject((all: AllExchanges): ReadonlySet<EndpointName> =>
  endpointsOf(
    all.exchanges.filter((each) => hasValidKey(each, all) && isSuccess(each)),
    all,
  ),
);

/** Endpoints that answered any request with a success. */
const foundEndpoints = memoizeByObject((all: AllExchanges) => endpointsOf(all.exchanges.filter(isSuccess), all));

const endpointsOf = (exchanges: readonly Exchange[], all: AllExchanges): ReadonlySet<EndpointName> =>
  new Set(exchanges.flatMap((each) => endpointOf(each, all) ?? []));

/** The exchanges that the document covers. Leaves out a 404 that a router may have sent instead of the endpoint. */
export const specifiedExchanges = memoizeByObject((all: AllExchanges): readonly Exchange[] =>
  all.exchanges.filter((each) => isSpecifiedResponse(each, all) && !mayBeRouter404(each, all)),
);

/**
 * The responses that need one of the document's error bodies: a documented error status of a published endpoint. A
 * health report with such a status is a report, not an error.
 */
export const errorsIn = memoizeByObject((all: AllExchanges): readonly Exchange[] =>
  specifiedExchanges(all).filter((each) => isErrorStatus(each) && !isHealthReport(each)),
);

/**
 * Whether a 404 may come from a router, about which the document says nothing. It does not if a success shows that the
 * endpoint exists. Neither does it if the document states the method, and the path has a parameter whose resource may
 * be missing.
 */
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

/** The media type of a response in lower case, without parameters; `null` if it has none. */
export const mediaTypeOf = (exchange: Exchange): string | null =>
  headerValues(exchange, "Content-Type")[0]?.split(";")[0]?.trim().toLowerCase() ?? null;
