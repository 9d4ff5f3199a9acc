import { memoizeByObject, memoizeByValue } from "../../base/memoize.ts";
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
import { probe } from "../../run/probe.ts";
import { withoutNetworkLosses } from "../../run/send/retry.ts";
import { usableKeys } from "../../target/target.ts";
import { isObject } from "../../base/json.ts";
import { isSuccess, member } from "./response.ts";

/** The endpoints that every target has, and that need nothing but a key and an agent. */
export const coreEndpoints = ["invoke", "stream", "health", "list", "usage"] as const satisfies readonly EndpointName[];
export type CoreEndpoint = (typeof coreEndpoints)[number];

/** All that the run sent and saw. */
export interface AllExchanges {
  readonly exchanges: readonly Exchange[];
  /** Names of the keys that are valid for everything. */
  readonly validKeys: readonly string[];
  /** Path of a batch, where the target file says it. Evidence of earlier versions does not have it. */
  readonly batchPath?: string | null;
  /** Whether the run could deploy agents anew, by triggers. Evidence of earlier versions does not have it. */
  readonly mayDeploy?: boolean;
}

/** For checks of what must hold whatever was asked. */
export const allExchanges = probe(
  "all that was sent and seen is looked over",
  { requests: 0, lane: "afterwards" },
  async ({ recorder, target }): Promise<AllExchanges> => ({
    exchanges: withoutNetworkLosses(recorder.exchanges()),
    validKeys: usableKeys(target).map(({ name }) => name),
    batchPath: target.paths.batch,
    mayDeploy: Object.keys(target.triggers).length > 0,
  }),
);

/** What tells which endpoint was asked. */
type Asked = Pick<Exchange, "request">;

/** Every check asks it of every request, and of a hundred thousand requests the addresses are a few hundred. */
const endpointsAt = memoizeByValue((batch: string | null) =>
  memoizeByValue((url: string) => endpointsAtPath(url, { batch })),
);

/** The endpoints at the path that was asked, whatever the method: none at one that neither the document nor the target file defines. */
export const endpointsAtRequestPath = (
  { request }: Asked,
  all?: Pick<AllExchanges, "batchPath">,
): readonly EndpointCall[] => endpointsAt(all?.batchPath ?? null)(request.url);

/** The endpoint that was asked; `null` for a path, or a method, that the document does not define. */
export const endpointOf = (asked: Asked, all?: Pick<AllExchanges, "batchPath">): EndpointName | null =>
  endpointsAtRequestPath(asked, all).find(
    ({ endpoint }) => publishedEndpoints[endpoint].method === asked.request.method,
  )?.endpoint ?? null;

/** What was asked of each endpoint, in the order of the run. */
export const byEndpoint = memoizeByObject((all: AllExchanges) =>
  Map.groupBy(all.exchanges, (each) => endpointOf(each, all)),
);

/** The agent that was asked, as it stands in the path. */
export const agentInPath = (exchange: Exchange): string | null =>
  endpointsAtRequestPath(exchange)[0]?.parameters["agent_id"] ?? null;

const isDeclaredJson = ({ request: { headers } }: Exchange): boolean =>
  headers.some(([name, value]) => name.toLowerCase() === "content-type" && /^\s*application\/json\b/i.test(value));

/** Whether a request is within the document: an endpoint that it defines, and a body, if any, that is declared and written as JSON. */
export function isSpecifiedRequest(exchange: Exchange, all?: AllExchanges): boolean {
  const { body } = exchange.request;
  if (endpointOf(exchange, all) === null) return false;
  if (body.kind === "none") return true;
  return isDeclaredJson(exchange) && sentJson(exchange.request) !== undefined;
}

/** Whether what a request got is within the document: it was described, or is refused where its body is declared as JSON and is none. */
const isBound = (exchange: Exchange, all: AllExchanges): boolean =>
  isSpecifiedRequest(exchange, all) ||
  (errorStatuses.includes(statusOf(exchange) ?? 0) && endpointOf(exchange, all) !== null && isDeclaredJson(exchange));

/** Whether the request was made with a key that is valid for everything. A request signed besides may be refused for its signature. */
export const hasValidKey = ({ key, request }: Exchange, { validKeys }: Pick<AllExchanges, "validKeys">): boolean =>
  key !== null && validKeys.includes(key) && !request.headers.some(([name]) => name.toLowerCase() === "x-signature");

/** Endpoints that let a valid key in: the positive control of whatever is refused there. */
export const endpointsWithControl = memoizeByObject((all: AllExchanges): ReadonlySet<EndpointName> =>
  endpointsOf(
    all.exchanges.filter((each) => hasValidKey(each, all) && isSuccess(each)),
    all,
  ),
);

/** Endpoints that answered anybody well. */
const foundEndpoints = memoizeByObject((all: AllExchanges) => endpointsOf(all.exchanges.filter(isSuccess), all));

const endpointsOf = (exchanges: readonly Exchange[], all: AllExchanges): ReadonlySet<EndpointName> =>
  new Set(exchanges.flatMap((each) => endpointOf(each, all) ?? []));

/** All that is within the document, request and answer, and was answered by the endpoint itself. */
export const specifiedExchanges = memoizeByObject((all: AllExchanges): readonly Exchange[] =>
  all.exchanges.filter((each) => isBound(each, all) && !mayBeOfNobody(each, all)),
);

/**
 * Refusals and failures to which the document's error bodies apply: on a published endpoint, with a documented error status.
 * A health report under such a status is a report, not an error.
 */
export const errorsIn = memoizeByObject((all: AllExchanges): readonly Exchange[] =>
  specifiedExchanges(all).filter((each) => errorStatuses.includes(statusOf(each) ?? 0) && !isHealthReport(each)),
);

/**
 * Whether a 404 may come from a router, of which the document says nothing: nothing but the endpoint itself can be missing there, or
 * the document does not show its method, and no answer of the run shows that it is there.
 */
function mayBeOfNobody(exchange: Exchange, all: AllExchanges): boolean {
  const endpoint = endpointOf(exchange, all);
  if (endpoint === null || statusOf(exchange) !== 404) return false;
  const { path, unspecified }: PublishedEndpoint = publishedEndpoints[endpoint];
  if (path?.includes("{") === true && !unspecified.includes("method")) return false;
  return !foundEndpoints(all).has(endpoint);
}

function isHealthReport(exchange: Exchange): boolean {
  if (endpointOf(exchange) !== "health") return false;
  const body = bodyJson(exchange);
  return isObject(member(body, "checks")) || healthStatuses.some((status) => status === member(body, "status"));
}

/** Media type of an answer, without parameters; `null` where it has none. */
export const mediaTypeOf = (exchange: Exchange): string | null =>
  headerValues(exchange, "Content-Type")[0]?.split(";")[0]?.trim().toLowerCase() ?? null;
