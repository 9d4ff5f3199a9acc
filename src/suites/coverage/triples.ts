import type { Row } from "../../base/covering-array.ts";
import { dimensions } from "../../spec/dimensions.ts";
import { endpointNames } from "../../spec/endpoints.ts";
import type { Target } from "../../target/target.ts";
import { validKeyKinds, missingFor } from "./reach.ts";

/**
 * A group of generated requests that share some values, so that triples of values are covered. Each request of the
 * group takes the next kind of key and the next of the alternatives.
 */
interface RowGroup {
  readonly endpoints: readonly string[];
  readonly keys: "valid" | "refused";
  /** Alternatives for the remaining values. The requests take them in turn. */
  readonly values: readonly Row[];
  /** Number of requests to each endpoint. */
  readonly count: number;
}

const ofAgents = ["invoke", "stream", "health"] as const;
const ofQueries = ["invoke", "stream"] as const;
const creating = ["webhooks", "alerts", "batch"] as const;
const whole = [{ body: "valid" }, { body: "spelled otherwise" }] as const;
const answering = ["answering", "streaming", "remembering"] as const;
/** Agents that respond quickly. A server that wrongly accepts the key then costs the run little time. */
const quick = ["answering", "streaming", "failing", "failingInStream", "degraded", "unhealthy"] as const;
const failing = ["failing", "failingInStream", "overloaded", "degraded", "unhealthy"] as const;
const others = endpointNames.filter(
  (name) => name !== "list" && ![...ofAgents, ...creating].some((each) => each === name),
);

/** Groups of requests that cover triples of values. If the server is legal, only the last three groups run agents. */
const rowGroups: readonly RowGroup[] = [
  {
    endpoints: ofQueries,
    keys: "refused",
    values: answering.flatMap((agent) => whole.map((body) => ({ agent, ...body }))),
    count: 60,
  },
  { endpoints: ofQueries, keys: "refused", values: quick.map((agent) => ({ agent })), count: 24 },
  { endpoints: ["list"], keys: "refused", values: [{}], count: 24 },
  { endpoints: ["health"], keys: "refused", values: [{}], count: 24 },
  { endpoints: creating, keys: "refused", values: [{}], count: 12 },
  { endpoints: ofQueries, keys: "valid", values: whole.map((body) => ({ agent: "unknown", ...body })), count: 40 },
  {
    endpoints: ofQueries,
    keys: "valid",
    values: answering.map((agent) => ({ agent, body: "without query" })),
    count: 30,
  },
  { endpoints: ["list"], keys: "valid", values: [{}], count: 30 },
  { endpoints: ["health"], keys: "valid", values: [{}], count: 40 },
  { endpoints: others, keys: "valid", values: [{}], count: 6 },
  {
    endpoints: ofQueries,
    keys: "valid",
    values: answering.flatMap((agent) => whole.map((body) => ({ agent, ...body }))),
    count: 16,
  },
  {
    endpoints: ["invoke"],
    keys: "valid",
    values: failing.map((agent) => ({ agent, body: "spelled otherwise" })),
    count: failing.length,
  },
  { endpoints: ofQueries, keys: "valid", values: [{ agent: "slow", body: "valid" }], count: 3 },
];

/**
 * Returns the shared values of the requests of all groups. The covering array (`covering-array.ts`) chooses the other
 * values.
 */
export function rowsOfGroups(target: Target): readonly Row[] {
  const refused = dimensions.key.refused.filter((kind) => missingFor("key", kind, target) === null);
  const kinds = { valid: validKeyKinds(target), refused };
  return rowGroups.flatMap(({ endpoints, keys, values, count }) =>
    endpoints
      .filter((endpoint) => missingFor("endpoint", endpoint, target) === null)
      .flatMap((endpoint) =>
        Array.from({ length: count }, (_, turn) => ({
          endpoint,
          method: "documented",
          key: kinds[keys][turn % kinds[keys].length] ?? "",
          // Shifts the alternatives each time all kinds of keys were used, so that each kind meets other alternatives.
          ...values[(turn + Math.floor(turn / kinds[keys].length)) % values.length],
        })),
      ),
  );
}

/** Requests to send with each key while its limit per minute or per hour is used up. */
const inEachState = [
  ...ofQueries.flatMap((endpoint) => ["answering", "streaming", "streaming"].map((agent) => ({ endpoint, agent }))),
  { endpoint: "list" },
  { endpoint: "list" },
] as const satisfies readonly Row[];

/**
 * Returns the given values of requests that are sent while a limit of a key is used up. The covering array chooses the
 * others.
 */
export const rowsInUsedUpStates = (keys: readonly string[], states: readonly string[]): readonly Row[] =>
  states
    .filter((state) => state === "minute used up" || state === "hour used up")
    .flatMap((state) =>
      keys.flatMap((key, turn) =>
        inEachState.map((values: Row, at) => ({
          method: "documented",
          key,
          state,
          ...values,
          ...(values["endpoint"] === "list" ? {} : whole[(turn + at) % whole.length]),
        })),
      ),
    );
