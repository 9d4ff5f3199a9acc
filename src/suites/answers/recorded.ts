import { jsonIn } from "../../base/json.ts";
import { bodyJson, type Exchange, headerValues, statusOf } from "../../evidence/exchange.ts";
import { endpointCalled, type EndpointName, endpointsAtPath } from "../../interface/endpoints.ts";
import { healthStatuses } from "../../interface/events.ts";
import { probe } from "../../run/probe.ts";
import { usableKeys } from "../../target/target.ts";
import { isObject } from "../../base/json.ts";
import { isSuccess, member } from "./shape.ts";

/** The endpoints that every target has. */
export const endpoints = ["invoke", "stream", "health", "list", "usage"] as const satisfies readonly EndpointName[];
export type Endpoint = (typeof endpoints)[number];

/** All that the run sent and saw. */
export interface Everything {
  readonly exchanges: readonly Exchange[];
  /** Names of the keys that are valid for everything. */
  readonly validKeys: readonly string[];
}

/** For checks of what must hold whatever was asked. */
export const everything = probe(
  "all that was sent and seen is looked over",
  { requests: 0, lane: "afterwards" },
  async ({ recorder, target }): Promise<Everything> => ({
    exchanges: [...recorder.exchanges()],
    validKeys: usableKeys(target).map(({ name }) => name),
  }),
);

const isCore = (name: EndpointName): name is Endpoint => endpoints.some((each) => each === name);

/** The endpoint that was asked, of those that every target has; `null` for any other path or method. */
export function endpointOf({ request: { method, url } }: Exchange): Endpoint | null {
  const called = endpointCalled(method, url);
  return called !== null && isCore(called.endpoint) ? called.endpoint : null;
}

/** The agent that was asked, as it stands in the path. */
export const agentOf = ({ request: { url } }: Exchange): string | null =>
  endpointsAtPath(url)[0]?.parameters["agent_id"] ?? null;

/** Whether a request is within the document: an endpoint that it defines, and a body, if any, that is declared and written as JSON. */
export function isDescribed(exchange: Exchange): boolean {
  const { body, headers } = exchange.request;
  if (endpointOf(exchange) === null) return false;
  if (body.kind === "none") return true;
  const isDeclared = headers.some(
    ([name, value]) => name.toLowerCase() === "content-type" && /^\s*application\/json\b/i.test(value),
  );
  return isDeclared && body.kind === "text" && jsonIn(body.text) !== undefined;
}

/** Whether the request was made with a key that is valid for everything. A request signed besides may be refused for its signature. */
export const hasValidKey = ({ key, request }: Exchange, { validKeys }: Everything): boolean =>
  key !== null && validKeys.includes(key) && !request.headers.some(([name]) => name.toLowerCase() === "x-signature");

/** Endpoints that let a valid key in: the positive control of whatever is refused there. */
export const provenEndpoints = (all: Everything): ReadonlySet<Endpoint> =>
  new Set(
    all.exchanges.filter((each) => hasValidKey(each, all) && isSuccess(each)).flatMap((each) => endpointOf(each) ?? []),
  );

const errorStatuses = [400, 401, 404, 429, 500];

/**
 * Refusals and failures to which the document's error bodies apply: a described request, a documented error status.
 * A health report under such a status is a report, not an error.
 */
export const errorsIn = ({ exchanges }: Everything): Exchange[] =>
  exchanges.filter((each) => errorStatuses.includes(statusOf(each) ?? 0) && isDescribed(each) && !isHealthReport(each));

function isHealthReport(exchange: Exchange): boolean {
  if (endpointOf(exchange) !== "health") return false;
  const body = bodyJson(exchange);
  return isObject(member(body, "checks")) || healthStatuses.some((status) => status === member(body, "status"));
}

/** Media type of an answer, without parameters; `null` where it has none. */
export const mediaTypeOf = (exchange: Exchange): string | null =>
  headerValues(exchange, "Content-Type")[0]?.split(";")[0]?.trim().toLowerCase() ?? null;
