import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { byEndpoint, type AllExchanges } from "../shared/all-exchanges.ts";
import { hasStatus } from "../shared/response.ts";
import { getPath, isObject } from "../../base/json.ts";

/** Where an endpoint's fields stand; `elsewhere` is neither of the published shapes, `null` that they were not found. */
export type ResponseShape = "top-level" | "envelope" | "elsewhere" | null;

/** Endpoints whose shape the document leaves open, with a test for their own fields. */
const ownFields = {
  list: (value: unknown): boolean =>
    isObject(getPath(value, "pagination")) || Array.isArray(getPath(value, "data")) || Array.isArray(value),
  usage: (value: unknown): boolean => isObject(getPath(value, "requests")) || isObject(getPath(value, "tokens")),
} as const;

export type OpenEndpoint = keyof typeof ownFields;

/** Successful answers of an endpoint, with bodies that are JSON. */
export const responsesOf = (endpoint: OpenEndpoint, all: AllExchanges): Exchange[] =>
  (byEndpoint(all).get(endpoint) ?? []).filter((each) => hasStatus(each, 200) && bodyJson(each) !== undefined);

export function shapeOf(endpoint: OpenEndpoint, exchange: Exchange): ResponseShape {
  const body = bodyJson(exchange);
  const isOwn = ownFields[endpoint];
  if (isEnveloped(body) && [getPath(body, "data", "result"), getPath(body, "data")].some(isOwn)) return "envelope";
  if (isObject(body) && isOwn(body)) return "top-level";
  return isWithin(body, isOwn) ? "elsewhere" : null;
}

/** Whether an object that has an endpoint's fields stands one or two levels down. */
const isWithin = (body: unknown, isOwn: (value: unknown) => boolean, levels = 2): boolean =>
  isObject(body) &&
  Object.values(body).some(
    (inner) => isObject(inner) && (isOwn(inner) || (levels > 1 && isWithin(inner, isOwn, levels - 1))),
  );

/**
 * Whether a body is meant as the envelope: `status`, a string, beside `data` that is an object, or that is a list without
 * the endpoint's own fields around it. An extra `status` beside a list and its pagination is only an extra field.
 */
export const isEnveloped = (body: unknown): boolean =>
  typeof getPath(body, "status") === "string" &&
  getPath(body, "data") !== undefined &&
  getPath(body, "pagination") === undefined;
