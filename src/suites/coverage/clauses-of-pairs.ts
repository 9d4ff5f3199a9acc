import { type Dimension, dimensions } from "../../spec/dimensions.ts";
import type { ClauseId } from "../../spec/clauses.ts";
import type { EndpointName } from "../../spec/endpoints.ts";

type Clauses = readonly ClauseId[];

const clauseOfEndpoint: Readonly<Record<EndpointName, ClauseId>> = {
  invoke: "INV-1",
  stream: "SSE-1",
  health: "HLT-1",
  list: "LST-1",
  usage: "USE-1",
  webhooks: "WHK-1",
  deliveries: "WHK-7",
  alerts: "ALR-1",
  keyUsage: "KEY-9",
  operations: "AUTH-1",
  batch: "BAT-1",
};

const clausesOfUnknownAgent: Readonly<Partial<Record<EndpointName, ClauseId>>> = {
  invoke: "INV-11",
  stream: "SSE-21",
  health: "HLT-18",
};

const clausesOfValue: { readonly [D in Dimension]?: Readonly<Partial<Record<string, Clauses>>> } = {
  key: {
    missing: ["AUTH-2"],
    "in a cookie": ["AUTH-2"],
    "in another header": ["AUTH-2"],
    "in the query": ["AUTH-2"],
    wrong: ["AUTH-3"],
    expired: ["AUTH-4"],
    outlived: ["KEY-3"],
    altered: ["AUTH-5"],
    "other prefix": ["AUTH-5"],
    "other scheme": ["AUTH-6"],
    "in Basic credentials": ["AUTH-6"],
    "other address": ["KEY-7"],
    "read-only": ["KEY-5"],
    "one agent": ["KEY-6"],
  },
  state: {
    "minute used up": ["LIM-12"],
    "hour used up": ["LIM-12"],
    "slots held": ["LIM-5"],
    "tokens spent": ["LIM-19"],
  },
  body: {
    "spelled otherwise": ["REQ-5"],
    "without query": ["INV-10"],
    "query of another type": ["INV-20"],
    array: ["REQ-11"],
    string: ["REQ-11"],
    truncated: ["REQ-11"],
    absent: ["REQ-11"],
  },
};

const clausesOfDimension: { readonly [D in Dimension]?: Clauses } = {
  session: ["INV-17"],
  query: ["INV-22"],
  temperature: ["INV-13"],
  maxTokens: ["INV-14"],
  context: ["INV-16"],
  unknownParameter: ["INV-12"],
  streamParameters: ["SSE-1"],
  page: ["LST-1"],
  limit: ["LST-6"],
};

const isEndpoint = (name: string): name is EndpointName => Object.hasOwn(clauseOfEndpoint, name);
const isDimension = (name: string): name is Dimension => Object.hasOwn(dimensions, name);

function valuesOf(pair: string): [Dimension, string][] {
  const names = [...pair.matchAll(/(?:^| )(\w+)=/g)];
  return names.flatMap((match, at): [Dimension, string][] => {
    const [text, name = ""] = match;
    const value = pair.slice(match.index + text.length, names[at + 1]?.index);
    return isDimension(name) ? [[name, value]] : [];
  });
}

/** Returns the `must` clauses that a pair of request values tests, e.g. AUTH-3 for `endpoint=list key=wrong`. */
export function clausesOfPair(pair: string): readonly ClauseId[] {
  const values = valuesOf(pair);
  const endpoint = values.map(([, value]) => value).find(isEndpoint);
  const isOfHealth = endpoint === "health";
  const own = values.flatMap(([name, value]): Clauses => {
    if (name === "agent" && value === "unknown")
      return endpoint === undefined
        ? Object.values(clausesOfUnknownAgent)
        : [clausesOfUnknownAgent[endpoint] ?? "INV-11"];
    if (name === "state" && value !== "fresh" && isOfHealth) return ["HLT-15"];
    return clausesOfValue[name]?.[value] ?? clausesOfDimension[name] ?? [];
  });
  if (own.length > 0) return [...new Set(own)];
  return [endpoint === undefined ? "AUTH-1" : clauseOfEndpoint[endpoint]];
}
