import { type Dimension, dimensions, exclusions, pairedOnly } from "../../spec/dimensions.ts";
import { type EndpointName, publishedEndpoints } from "../../spec/endpoints.ts";
import { tierNames } from "../../spec/tiers.ts";
import type { RequestTraits } from "./message.ts";

/** Values by dimension; of each dimension at most one. */
export type Values = Readonly<Partial<Record<Dimension, string>>>;

/** The dimensions of conditions. Another method than the documented one has no documented answer. */
export const conditionDimensions = (Object.keys(dimensions) as Dimension[]).filter((name) => name !== "method");

/** The values of a dimension that a condition can have: `none` says only that the dimension does not apply. */
export const valuesOf = (name: Dimension): readonly string[] =>
  dimensions[name].values.filter((value) => value !== "none");

/** Whether a request has all these values. */
export const hasValues = ({ values: own }: RequestTraits, values: Values): boolean =>
  Object.entries(values).every(([name, value]) => own[name as Dimension].includes(value));

/** Whether one request can have all these values. */
export const isPossible = (values: Values): boolean => isAllowed(values) && hasPossibleAge(values);

/**
 * A key that is refused has no age, and the first requests of a key or a window are not over its limit. Some dimensions
 * form no pairs with others.
 */
const hasPossibleAge = ({ age, ...others }: Values): boolean =>
  age === undefined ||
  (!dimensions.key.refused.some((each) => each === others.key) &&
    Object.keys(others).every((name) => name === "method" || pairedOnly.age?.some((each) => each === name) === true));

/** Whether the exclusions allow a request with all these values. */
const isAllowed = (values: Values): boolean =>
  exclusions.every(({ when, only }) => {
    const has = ([name, allowed]: [string, readonly string[]]): boolean =>
      allowed.includes(values[name as Dimension] ?? "");
    const isOpen = ([name]: [string, readonly string[]]): boolean => values[name as Dimension] === undefined;
    return !Object.entries(when).every(has) || Object.entries(only).every((rule) => isOpen(rule) || has(rule));
  });

/** Kinds of key that get 401, with nothing else that a server may say but 404 for an agent that does not exist. */
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

/** Kinds of key that must not succeed. The status is not stated. */
const keysWithoutSuccess: readonly string[] = ["other scheme", "in Basic credentials", "other address"];

export const isTierKey = (key: string | undefined): boolean => tierNames.some((tier) => tier === key);

/**
 * The kind of answer that the document states for a request. `open`: it states none, or several.
 */
export type Outcome = "success" | "401" | "no success" | "404" | "400" | "429" | "5xx" | "open";

const failingInvokes: readonly string[] = ["failing", "timingOut", "unhealthy", "failingInStream", "overloaded"];
const creating: readonly EndpointName[] = ["webhooks", "alerts", "batch"];

/** The outcome of a request to an endpoint. Values that are not given count as those of a plain, valid request. */
export function outcomeOf(endpoint: EndpointName, { key, agent, body, state, page }: Values): Outcome {
  const isUnknown = agent === "unknown";
  if (keysWith401.some((each) => each === key)) return isUnknown ? "open" : "401";
  if (keysWithoutSuccess.includes(key ?? "")) return "no success";
  if (key === "near quota") return "open";
  // Whether an execution is a write is not stated.
  if (key === "read-only" && publishedEndpoints[endpoint].method === "POST")
    return endpoint === "webhooks" || endpoint === "alerts" ? "no success" : "open";
  if (key === "one agent" && agent !== "answering") return "no success";
  const isMalformed = body !== undefined && body !== "valid" && body !== "spelled otherwise";
  const isUsedUp = state !== undefined && state !== "fresh" && endpoint !== "health";
  const refusals: Outcome[] = [
    ...(isUsedUp ? (["429"] as const) : []),
    ...(isUnknown ? (["404"] as const) : []),
    ...(isMalformed ? (["400"] as const) : []),
    ...(endpoint === "invoke" && failingInvokes.includes(agent ?? "") ? (["5xx"] as const) : []),
  ];
  // The answer to a query of another type, to a page past the end, or beyond the month's tokens, is not stated.
  if (body === "query of another type" || page === "beyond" || state === "tokens spent") return "open";
  if (isMalformed && creating.includes(endpoint)) return refusals.length > 1 ? "open" : "400";
  return refusals.length > 1 ? "open" : (refusals[0] ?? "success");
}
