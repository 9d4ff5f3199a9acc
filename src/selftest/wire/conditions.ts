import { type EndpointName, endpointNames, publishedEndpoints } from "../../spec/endpoints.ts";
import { hasValues, isTierKey, type Values } from "./dimensions.ts";
import type { RequestTraits } from "./message.ts";

/** A property of requests that the dimensions in src/spec/dimensions.ts do not have, such as the length of the body. */
export interface Peculiarity {
  readonly class: string;
  readonly description: string;
  /** The endpoints whose requests can have the property; `null` for all. */
  readonly on: readonly EndpointName[] | null;
  /** Whether a request with these values can never have the property. */
  readonly excludes: (values: Values) => boolean;
  readonly matches: (traits: RequestTraits) => boolean;
}

/** Restricts a condition to some of the requests that meet it, by their number: only the third, or every third. */
interface Count {
  readonly description: string;
  readonly isRepeated: boolean;
  readonly matches: (number: number) => boolean;
}

/** The condition under which a mutant misbehaves. */
export interface Condition {
  readonly values: Values;
  /** `null` if the condition is only about dimensions and the number of the request. */
  readonly peculiarity: Peculiarity | null;
  readonly count: Count | null;
}

/** Creates a test for requests that meet a condition. The test counts requests, so each run needs a new one. */
export function matcherOf(
  { values, peculiarity, count }: Condition,
  {
    endpoints,
    fits,
  }: { readonly endpoints: readonly EndpointName[]; readonly fits: (traits: RequestTraits) => boolean },
): (traits: RequestTraits) => boolean {
  let number = 0;
  return (traits) => {
    const isChosen =
      traits.endpoint !== null &&
      endpoints.includes(traits.endpoint) &&
      fits(traits) &&
      hasValues(traits, values) &&
      (peculiarity?.matches(traits) ?? true);
    if (!isChosen) return false;
    number += 1;
    return count?.matches(number) ?? true;
  };
}

export const describeCondition = ({ values, peculiarity, count }: Condition): string =>
  [
    ...Object.entries(values).map(([name, value]) => `${name} ${value}`),
    ...(peculiarity === null ? [] : [peculiarity.description]),
    ...(count === null ? [] : [count.description]),
  ].join(", ") || "every request";

/** Names the kind of a condition, for reports. */
export function classOf({ values, peculiarity, count }: Condition): string {
  if (peculiarity !== null) return peculiarity.class;
  if (count !== null) return "the n-th request";
  const size = Object.keys(values).length;
  return size <= 1 ? "one value" : `${size} values`;
}

const posts = endpointNames.filter((name) => publishedEndpoints[name].method === "POST");

/**
 * Whether no response to such requests has a `Remaining` above 0. Only responses to valid keys with requests left have
 * one.
 */
const hasNoRemaining = ({ state, key }: Values): boolean =>
  (state !== undefined && state !== "fresh") || (key !== undefined && !isTierKey(key));

const parityOf = (
  what: string,
  numberOf: (traits: RequestTraits) => number | null,
  on: Peculiarity["on"] = null,
  excludes: Peculiarity["excludes"] = () => false,
): Peculiarity[] =>
  [0, 1].map((rest) => ({
    class: what,
    on,
    excludes,
    description: `${what} is ${rest === 0 ? "even" : "odd"}`,
    matches: (traits) => {
      const number = numberOf(traits);
      return number !== null && number % 2 === rest;
    },
  }));

const header = (description: string, matches: Peculiarity["matches"], on: Peculiarity["on"] = null): Peculiarity => ({
  class: "a header's value",
  on,
  excludes: () => false,
  description,
  matches,
});

const length = (description: string, matches: Peculiarity["matches"]): Peculiarity => ({
  class: "the length of the body",
  on: posts,
  excludes: () => false,
  description,
  matches,
});

const quarters = [0, 1, 2, 3].map((quarter): Peculiarity => ({
  class: "the second of the minute",
  on: null,
  excludes: () => false,
  description: `second ${quarter * 15} to ${quarter * 15 + 14} of the minute`,
  matches: ({ second }) => second !== null && Math.floor(second / 15) === quarter,
}));

/** Properties of requests that are not among the dimensions. */
export const peculiarities: readonly Peculiarity[] = [
  ...parityOf("the second of the minute", ({ second }) => second),
  ...quarters,
  ...parityOf("the length of the body", ({ bodyLength }) => (bodyLength === 0 ? null : bodyLength), posts),
  length("a body of at least 60 bytes", ({ bodyLength }) => bodyLength >= 60),
  length("a body of at least 200 bytes", ({ bodyLength }) => bodyLength >= 200),
  length("a body that is not ASCII", ({ bodyHasOnlyAscii, bodyLength }) => bodyLength > 0 && !bodyHasOnlyAscii),
  ...parityOf("the requests that are left", ({ remaining }) => remaining, null, hasNoRemaining),
  ...[3, 7].map((divisor): Peculiarity => ({
    class: "the requests that are left",
    on: null,
    excludes: hasNoRemaining,
    description: `the requests that are left can be divided by ${divisor}`,
    matches: ({ remaining }) => remaining !== null && remaining > 0 && remaining % divisor === 0,
  })),
  header("Accept names JSON", ({ accept }) => accept.includes("json")),
  header("Accept names an event stream", ({ accept }) => accept.includes("event-stream"), ["stream"]),
  header("Content-Type is application/json", ({ contentType }) => contentType === "application/json", posts),
  header(
    "no Content-Type",
    ({ contentType }) => contentType === "",
    endpointNames.filter((name) => !posts.includes(name)),
  ),
  header("no User-Agent", ({ headerNames }) => !headerNames.includes("user-agent")),
];

/** Restrictions of a condition to the n-th request. */
export const counts: readonly Count[] = [
  ...[2, 3, 4].map((wanted): Count => ({
    description: `request number ${wanted}`,
    isRepeated: false,
    matches: (number) => number === wanted,
  })),
  ...[2, 3, 5].map((step): Count => ({
    description: `one in ${step} requests`,
    isRepeated: true,
    matches: (number) => number % step === 0,
  })),
];
