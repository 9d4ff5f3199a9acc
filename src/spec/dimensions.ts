import { type EndpointName, endpointNames, postEndpoints } from "./endpoints.ts";
import { tierNames } from "./tiers.ts";

const rejectedKeys = [
  "missing",
  "wrong",
  "other prefix",
  "altered",
  "other scheme",
  "expired",
  "outlived",
  "other address",
  "in a cookie",
  "in another header",
  "in Basic credentials",
  "in the query",
] as const;
const exhaustedStates = ["minute used up", "hour used up", "tokens spent", "slots held"] as const;

/**
 * The properties of a request, in the assumed order of a server's checks. `refused` lists values that a server refuses
 * or may refuse. After a refused value, the server checks no later property.
 */
export const dimensions = {
  endpoint: { values: endpointNames, refused: [] },
  method: { values: ["documented", "other"], refused: ["other"] },
  key: { values: [...tierNames, "read-only", "one agent", "near quota", ...rejectedKeys], refused: rejectedKeys },
  state: { values: ["fresh", ...exhaustedStates], refused: exhaustedStates },
  agent: {
    values: [
      "none",
      "answering",
      "streaming",
      "slow",
      "timingOut",
      "failing",
      "failingInStream",
      "overloaded",
      "degraded",
      "unhealthy",
      "remembering",
      "unknown",
    ],
    refused: ["unknown"],
  },
  body: {
    values: [
      "none",
      "valid",
      "spelled otherwise",
      "without query",
      "query of another type",
      "array",
      "string",
      "truncated",
      "absent",
    ],
    refused: ["without query", "query of another type", "array", "string", "truncated", "absent"],
  },
  session: { values: ["none", "absent", "plain", "digits alone", "true", "not ASCII"], refused: [] },
  query: {
    values: ["none", "plain", "not ASCII", "digits alone", "true", "hexadecimal", "base64", "long"],
    refused: [],
  },
  temperature: { values: ["none", "absent", "0", "0.7", "2"], refused: [] },
  maxTokens: { values: ["none", "absent", "16", "100"], refused: [] },
  context: { values: ["none", "absent", "object"], refused: [] },
  unknownParameter: { values: ["none", "absent", "present"], refused: [] },
  streamParameters: { values: ["none", "absent", "present"], refused: [] },
  page: { values: ["none", "absent", "first", "second", "third", "last", "beyond"], refused: [] },
  limit: { values: ["none", "absent", "1", "2", "50"], refused: [] },
  age: { values: ["first", "second", "after a reset"], refused: [] },
} as const satisfies Readonly<
  Record<string, { readonly values: readonly string[]; readonly refused: readonly string[] }>
>;

export type Dimension = keyof typeof dimensions;
type ValueOf<D extends Dimension> = (typeof dimensions)[D]["values"][number];

/** The state of a key after the run has used up one of its limits. For example, `hour used up`. */
export type KeyState = Exclude<ValueOf<"state">, "fresh">;

/**
 * A rule: if a request matches `when`, `only` lists its possible values. For example, a request with the method `other`
 * can only have the body `none`.
 */
export interface Exclusion {
  readonly when: { readonly [D in Dimension]?: readonly ValueOf<D>[] };
  readonly only: { readonly [D in Dimension]?: readonly ValueOf<D>[] };
  readonly because: string;
}

const endpointsWithAgent = ["invoke", "stream", "health"] as const satisfies readonly EndpointName[];
const endpointsWithQuery = ["invoke", "stream"] as const satisfies readonly EndpointName[];
export const creatingEndpoints = ["webhooks", "alerts", "batch"] as const satisfies readonly EndpointName[];
const allExcept = <T extends string>(of: readonly T[], but: readonly T[]): T[] =>
  of.filter((each) => !but.includes(each));
const endpointsExcept = (endpoints: readonly EndpointName[]): EndpointName[] => allExcept(endpointNames, endpoints);
const validBodies = ["valid", "spelled otherwise"] as const;
const queryDimensions = [
  "session",
  "query",
  "temperature",
  "maxTokens",
  "context",
  "unknownParameter",
  "streamParameters",
] as const;
const optionalFields = allExcept(queryDimensions, ["query"]);
const listDimensions = ["page", "limit"] as const;

const onlyValuesIn = (names: readonly Dimension[], ...values: string[]): Exclusion["only"] =>
  Object.fromEntries(names.map((name) => [name, values]));
const valuesOtherThanNone = (names: readonly Dimension[]): Exclusion["only"] =>
  Object.fromEntries(names.map((name) => [name, allExcept<string>(dimensions[name].values, ["none"])]));

export const exclusions: readonly Exclusion[] = [
  {
    when: { endpoint: endpointsExcept(endpointsWithAgent) },
    only: { agent: ["none"] },
    because: "the path names no agent",
  },
  { when: { endpoint: endpointsWithAgent }, only: valuesOtherThanNone(["agent"]), because: "the path names an agent" },
  { when: { endpoint: endpointsExcept(postEndpoints) }, only: { body: ["none"] }, because: "a GET has no body" },
  { when: { method: ["other"] }, only: { body: ["none"] }, because: "another method has no documented body" },
  {
    when: { endpoint: postEndpoints, method: ["documented"] },
    only: valuesOtherThanNone(["body"]),
    because: "a POST has a body, or lacks it",
  },
  {
    when: { endpoint: endpointsExcept(endpointsWithQuery) },
    only: onlyValuesIn(queryDimensions, "none"),
    because: "only invoke and stream take these fields",
  },
  {
    when: { body: ["none", "array", "string", "truncated", "absent"] },
    only: onlyValuesIn(queryDimensions, "none"),
    because: "the body has no fields",
  },
  {
    when: { endpoint: endpointsWithQuery, body: validBodies },
    only: valuesOtherThanNone(queryDimensions),
    because: "the body has a query, and each other field or not",
  },
  {
    when: { endpoint: endpointsWithQuery, body: ["without query", "query of another type"] },
    only: { ...valuesOtherThanNone(optionalFields), query: ["none"] },
    because: "the body has no query that is a text",
  },
  {
    when: { endpoint: creatingEndpoints },
    only: { body: ["none", "valid", "array", "string", "truncated", "absent"] },
    because: "the body has no query",
  },
  {
    when: { endpoint: creatingEndpoints, body: ["valid"] },
    only: { key: rejectedKeys },
    because: "the interface cannot delete what a valid body creates",
  },
  {
    when: { endpoint: endpointsExcept(["list"]) },
    only: onlyValuesIn(listDimensions, "none"),
    because: "only the list has pages",
  },
  {
    when: { endpoint: ["list"], method: ["documented"] },
    only: valuesOtherThanNone(listDimensions),
    because: "the list has pages",
  },
  { when: { method: ["other"] }, only: onlyValuesIn(listDimensions, "none"), because: "another method has no pages" },
  { when: { page: ["absent"] }, only: { limit: ["absent"] }, because: "both are left out together" },
  { when: { limit: ["absent"] }, only: { page: ["absent", "none"] }, because: "both are left out together" },
  { when: { key: rejectedKeys }, only: { state: ["fresh"] }, because: "a key that is refused has no state" },
  {
    when: { key: ["read-only", "one agent"] },
    only: { state: ["fresh"] },
    because: "the tier of a restricted key is not tested",
  },
  { when: { state: ["tokens spent"] }, only: { key: ["near quota"] }, because: "only a few tokens can be spent" },
  { when: { key: ["near quota"] }, only: { state: ["tokens spent"] }, because: "its tokens are spent first" },
  {
    when: { state: exhaustedStates },
    only: { agent: ["none", "answering", "streaming", "failing", "degraded", "unhealthy", "unknown"] },
    because: "a request that is admitted all the same must end soon",
  },
  { when: { state: exhaustedStates }, only: { method: ["documented"] }, because: "another method may count or not" },
  {
    when: { agent: ["slow", "timingOut", "failing", "failingInStream", "overloaded", "degraded", "unhealthy"] },
    only: { ...onlyValuesIn(optionalFields, "none", "absent"), query: ["none", "plain"] },
    because: "an agent that fails or takes long says little of a field",
  },
  {
    when: { key: ["one agent"] },
    only: { agent: ["none", "answering", "unknown"] },
    because: "KEY-6 tries the others",
  },
];

/** Dimensions whose value depends on earlier requests. Each is combined only with the dimensions in its list. */
export const pairPartners: Readonly<Partial<Record<Dimension, readonly Dimension[]>>> = { age: ["endpoint", "key"] };

/**
 * Kinds of keys that a server must reject for some or all requests, with their columns in the coverage table. Sources:
 * Authentication, API key.
 */
export const restrictedOrInvalidKeyKinds = {
  "no key": "none",
  "a wrong key": "wrong",
  "a key with another last character": "near",
  "a key that is cut off": "near",
  "a key that is lengthened": "near",
  "a key in other letter case": "near",
  "a key of one letter case in the other": "near",
  "a key under another scheme": "scheme",
  "a scheme without a key": "scheme",
  "an expired key": "expired",
  "a temporary key after its life": "outlived",
  "a read-only key": "read-only",
  "a key of another agent": "one agent",
  "a key of another address": "address",
  "a key of another address, for the second time": "address",
} as const;

export type RejectedKeyKind = keyof typeof restrictedOrInvalidKeyKinds;
