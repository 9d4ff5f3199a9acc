import { type EndpointName, endpointNames, publishedEndpoints } from "../../spec/endpoints.ts";
import type { RequestTraits } from "./message.ts";

/** A value of a dimension, and where it can occur. */
interface DimensionValue {
  readonly name: string;
  readonly on: readonly EndpointName[];
}

/** One way in which requests differ, with its values. */
export interface Dimension {
  readonly name: DimensionName;
  readonly values: readonly DimensionValue[];
  /** The values that a request has. */
  readonly of: (traits: RequestTraits) => readonly string[];
}

export type DimensionName = "endpoint" | "key" | "agent" | "body" | "parameters" | "page" | "state" | "age";

const all = endpointNames;
const withAgent: readonly EndpointName[] = ["invoke", "stream", "health"];
const limited = all.filter((name) => name !== "health");
const withBody = all.filter((name) => publishedEndpoints[name].method === "POST");
const executing: readonly EndpointName[] = ["invoke", "stream"];

const valuesOn = (on: readonly EndpointName[], ...names: readonly string[]): DimensionValue[] =>
  names.map((name) => ({ name, on }));

/** Keys of a tier without restrictions. */
export const tierKeys = ["free", "pro", "team", "enterprise"] as const;
/** Keys that are none, or none any more: 401 is the only answer. */
export const refusedKeys = ["none", "wrong", "altered", "expired", "outlived"] as const;

/** The dimensions of a request, and their values. */
export const dimensions: readonly Dimension[] = [
  {
    name: "endpoint",
    values: all.map((name) => ({ name, on: [name] })),
    of: ({ endpoint }) => (endpoint === null ? [] : [endpoint]),
  },
  {
    name: "key",
    values: [
      ...valuesOn(all, ...tierKeys, ...refusedKeys, "temporary", "read-only", "elsewhere"),
      ...valuesOn(withAgent, "one agent"),
    ],
    of: ({ key }) => [key],
  },
  {
    name: "agent",
    values: [
      ...valuesOn(
        withAgent,
        "answering",
        "slow",
        "failing",
        "degraded",
        "unhealthy",
        "remembering",
        "another",
        "unknown",
      ),
      ...valuesOn(["invoke", "health"], "timing out"),
      ...valuesOn(["stream", "health"], "failing in stream", "overloaded"),
    ],
    of: ({ agent }) => (agent === null ? [] : [agent]),
  },
  {
    name: "body",
    values: [
      ...valuesOn(
        executing,
        "query alone",
        "with a session",
        "with parameters",
        "without the query",
        "query of another type",
      ),
      ...valuesOn(withBody, "not JSON"),
    ],
    of: ({ body }) => body,
  },
  {
    name: "parameters",
    values: [
      ...valuesOn(executing, "temperature", "max_tokens", "context", "an unknown parameter"),
      ...valuesOn(["stream"], "resume_from_index", "stream_delay_ms", "chunk_size"),
    ],
    of: ({ parameters }) => parameters,
  },
  {
    name: "page",
    values: valuesOn(["list"], "1", "2", "3 or later", "none"),
    of: ({ page }) => (page === null ? [] : [page]),
  },
  {
    name: "state",
    values: [...valuesOn(all, "fresh", "slots held"), ...valuesOn(limited, "used up")],
    of: ({ state }) => state,
  },
  { name: "age", values: valuesOn(all, "first", "second", "after a reset"), of: ({ age }) => age },
];

/** Values by dimension; of each dimension at most one. */
export type Values = Readonly<Partial<Record<DimensionName, string>>>;

export const dimensionOf = (name: DimensionName): Dimension => {
  const found = dimensions.find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no dimension ${name}`);
  return found;
};

/** The endpoints on which a value can occur. */
export const endpointsOf = (name: DimensionName, value: string): readonly EndpointName[] =>
  dimensionOf(name).values.find((each) => each.name === value)?.on ?? [];

/** Whether a request has all these values. */
export const hasValues = (traits: RequestTraits, values: Values): boolean =>
  Object.entries(values).every(([name, value]) =>
    dimensionOf(name as DimensionName)
      .of(traits)
      .includes(value),
  );

/** Whether one request can have all these values. */
export function isPossible({ key, state, age, body, parameters }: Values): boolean {
  // A key that is refused has no allowance, so it has neither a state nor an age.
  const hasAllowance = !isRefusedKey(key) && key !== "elsewhere";
  if (!hasAllowance && (age !== undefined || (state !== undefined && state !== "fresh"))) return false;
  if (state === "used up" && (age !== undefined || !isTierKey(key))) return false;
  if (state === "slots held" && (age === "first" || !isTierKey(key))) return false;
  return parameters === undefined || (body !== "query alone" && body !== "not JSON");
}

const isRefusedKey = (key: string | undefined): boolean => refusedKeys.some((each) => each === key);
const isTierKey = (key: string | undefined): boolean => key === undefined || tierKeys.some((each) => each === key);

/**
 * The kind of answer that the document states for a request with these values. `open`: it states none, or several.
 * Values that are not given count as those of a plain, valid request.
 */
export type Outcome = "success" | "401" | "no success" | "404" | "400" | "429" | "5xx" | "open";

export function outcomeOf(endpoint: EndpointName, { key, agent, body, state }: Values): Outcome {
  const isUnknown = agent === "unknown";
  if (isRefusedKey(key)) return isUnknown ? "open" : "401";
  if (key === "elsewhere") return "no success";
  // Whether an execution is a write is not stated.
  if (key === "read-only" && publishedEndpoints[endpoint].method === "POST")
    return endpoint === "webhooks" || endpoint === "alerts" ? "no success" : "open";
  if (key === "one agent" && agent !== "answering") return "no success";
  const refusals: Outcome[] = [
    ...(state === "used up" && endpoint !== "health" ? (["429"] as const) : []),
    ...(isUnknown ? (["404"] as const) : []),
    ...(body === "without the query" || body === "query of another type" || body === "not JSON"
      ? (["400"] as const)
      : []),
    ...(endpoint === "invoke" && ["failing", "timing out", "unhealthy"].includes(agent ?? "")
      ? (["5xx"] as const)
      : []),
  ];
  if (refusals.length > 1 || body === "query of another type" || state === "slots held") return "open";
  if (
    endpoint === "stream" &&
    ["failing", "timing out", "unhealthy", "overloaded", "failing in stream"].includes(agent ?? "")
  )
    return refusals.length > 0 ? "open" : "success";
  return (
    refusals[0] ??
    (isTierKey(key) || key === "temporary" || key === "read-only" || key === "one agent" ? "success" : "open")
  );
}
