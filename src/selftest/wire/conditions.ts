import { type EndpointName, endpointNames, postEndpoints } from "../../spec/endpoints.ts";
import { type DimensionValues, hasValues, isTierKey, type RequestTraits, takesPlainFieldsOnly } from "./dimensions.ts";
import type { Mutation } from "./mutations/mutation.ts";

/** A property of requests that src/spec/dimensions.ts does not list, such as the length of the body. */
interface ExtraProperty {
  readonly class: string;
  readonly description: string;
  readonly on: readonly EndpointName[] | null;
  /**
   * Whether a request with these values can never have the property. Example: a response to a wrong key has no
   * `X-RateLimit-Remaining`, so this number cannot be even.
   */
  readonly excludes: (values: DimensionValues) => boolean;
  readonly matches: (traits: RequestTraits) => boolean;
}

/** Selects requests by their number among those that meet the rest of the condition: e.g. the third, or every third. */
interface NumberRule {
  readonly description: string;
  readonly isRepeated: boolean;
  readonly matches: (number: number) => boolean;
}

/** The condition that a request must meet so that the mutant, a changed server, responds wrongly. */
export interface Condition {
  readonly values: DimensionValues;
  readonly extraProperty: ExtraProperty | null;
  readonly numberRule: NumberRule | null;
}

/** Returns a function that tests a condition. Each run needs a new function, because the function counts requests. */
export function conditionMatcher(
  { values, extraProperty, numberRule }: Condition,
  { endpoints, appliesTo }: Pick<Mutation, "endpoints" | "appliesTo">,
): (traits: RequestTraits) => boolean {
  let number = 0;
  return (traits) => {
    const isChosen =
      traits.endpoint !== null &&
      endpoints.includes(traits.endpoint) &&
      appliesTo(traits) &&
      hasValues(traits, values) &&
      (extraProperty?.matches(traits) ?? true);
    if (!isChosen) return false;
    number += 1;
    return numberRule?.matches(number) ?? true;
  };
}

export const describeCondition = ({ values, extraProperty, numberRule }: Condition): string =>
  [
    ...Object.entries(values).map(([name, value]) => `${name} ${value}`),
    ...(extraProperty === null ? [] : [extraProperty.description]),
    ...(numberRule === null ? [] : [numberRule.description]),
  ].join(", ") || "every request";

export function conditionClassOf({ values, extraProperty, numberRule }: Condition): string {
  if (extraProperty !== null) return extraProperty.class;
  if (numberRule !== null) return "the n-th request";
  const size = Object.keys(values).length;
  return size <= 1 ? "one value" : `${size} values`;
}

const hasNoRemaining = ({ state, key }: DimensionValues): boolean =>
  (state !== undefined && state !== "fresh") || (key !== undefined && !isTierKey(key));

const property = (
  group: string,
  description: string,
  matches: ExtraProperty["matches"],
  { on = null, excludes = () => false }: Partial<Pick<ExtraProperty, "on" | "excludes">> = {},
): ExtraProperty => ({ class: group, on, excludes, description, matches });

const parityOf = (
  what: string,
  numberOf: (traits: RequestTraits) => number | null,
  where: Partial<Pick<ExtraProperty, "on" | "excludes">> = {},
): ExtraProperty[] =>
  [0, 1].map((rest) => {
    const matches = (traits: RequestTraits): boolean => {
      const number = numberOf(traits);
      return number !== null && number % 2 === rest;
    };
    return property(what, `${what} is ${rest === 0 ? "even" : "odd"}`, matches, where);
  });

const headerProperty = (
  description: string,
  matches: ExtraProperty["matches"],
  on: ExtraProperty["on"] = null,
): ExtraProperty => property("a header's value", description, matches, { on });

const unusualBodyProperty = (description: string, matches: ExtraProperty["matches"]): ExtraProperty =>
  property("the length of the body", description, matches, {
    on: ["invoke", "stream"],
    excludes: ({ agent }) => agent !== undefined && takesPlainFieldsOnly(agent),
  });

export const extraProperties: readonly ExtraProperty[] = [
  ...parityOf("the second of the minute", ({ second }) => second),
  ...[0, 1, 2, 3].map((quarter) =>
    property(
      "the second of the minute",
      `second ${quarter * 15} to ${quarter * 15 + 14} of the minute`,
      ({ second }) => second !== null && Math.floor(second / 15) === quarter,
    ),
  ),
  ...parityOf("the length of the body", ({ bodyLength }) => bodyLength || null, { on: postEndpoints }),
  unusualBodyProperty("a body of at least 60 bytes", ({ bodyLength }) => bodyLength >= 60),
  unusualBodyProperty("a body of at least 200 bytes", ({ bodyLength }) => bodyLength >= 200),
  unusualBodyProperty(
    "a body that is not ASCII",
    ({ bodyHasOnlyAscii, bodyLength }) => bodyLength > 0 && !bodyHasOnlyAscii,
  ),
  ...parityOf("the requests that are left", ({ remaining }) => remaining, { excludes: hasNoRemaining }),
  ...[3, 7].map((divisor) =>
    property(
      "the requests that are left",
      `the requests that are left can be divided by ${divisor}`,
      ({ remaining }) => remaining !== null && remaining > 0 && remaining % divisor === 0,
      { excludes: hasNoRemaining },
    ),
  ),
  headerProperty("Accept names JSON", ({ accept }) => accept.includes("json")),
  headerProperty("Accept names an event stream", ({ accept }) => accept.includes("event-stream"), ["stream"]),
  headerProperty(
    "Content-Type is application/json",
    ({ contentType }) => contentType === "application/json",
    postEndpoints,
  ),
  headerProperty(
    "no Content-Type",
    ({ contentType }) => contentType === "",
    endpointNames.filter((name) => !postEndpoints.includes(name)),
  ),
  headerProperty("no Accept-Encoding", ({ headerNames }) => !headerNames.includes("accept-encoding")),
];

export const numberRules: readonly NumberRule[] = [
  ...[2, 3, 4].map((wanted): NumberRule => ({
    description: `request number ${wanted}`,
    isRepeated: false,
    matches: (number) => number === wanted,
  })),
  ...[2, 3, 5].map((step): NumberRule => ({
    description: `one in ${step} requests`,
    isRepeated: true,
    matches: (number) => number % step === 0,
  })),
];
