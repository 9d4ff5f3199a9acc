import type { Row } from "../../base/covering-array.ts";
import { dimensions } from "../../spec/dimensions.ts";
import { endpointNames } from "../../spec/endpoints.ts";
import type { Target } from "../../target/target.ts";
import { letInKinds, missingFor } from "./reach.ts";

/**
 * Requests that have some values in common, to cover triples of values. Each takes the next kind of key and the next
 * alternative.
 */
interface Beginning {
  readonly endpoints: readonly string[];
  readonly keys: "valid" | "refused";
  /** Alternatives for the other values, in turn. */
  readonly values: readonly Row[];
  /** Number of requests for each endpoint. */
  readonly count: number;
}

const ofAgents = ["invoke", "stream", "health"] as const;
const ofQueries = ["invoke", "stream"] as const;
const creating = ["webhooks", "alerts", "batch"] as const;
const whole = [{ body: "valid" }, { body: "spelled otherwise" }] as const;
const answering = ["answering", "streaming", "remembering"] as const;
/** Agents that end soon, in case the server accepts the key. */
const quick = ["answering", "streaming", "failing", "failingInStream", "degraded", "unhealthy"] as const;
const failing = ["failing", "failingInStream", "overloaded", "degraded", "unhealthy"] as const;
const others = endpointNames.filter(
  (name) => name !== "list" && ![...ofAgents, ...creating].some((each) => each === name),
);

/** Requests that cover triples of values. Only the last ones run an agent. */
const beginnings: readonly Beginning[] = [
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

/** Builds the first values of these requests. */
export function begunRows(target: Target): readonly Row[] {
  const refused = dimensions.key.refused.filter((kind) => missingFor("key", kind, target) === null);
  const kinds = { valid: letInKinds(target), refused };
  return beginnings.flatMap(({ endpoints, keys, values, count }) =>
    endpoints
      .filter((endpoint) => missingFor("endpoint", endpoint, target) === null)
      .flatMap((endpoint) =>
        Array.from({ length: count }, (_, turn) => ({
          endpoint,
          method: "documented",
          key: kinds[keys][turn % kinds[keys].length] ?? "",
          // Shifts the alternatives after each round of keys, so that they meet other keys.
          ...values[(turn + Math.floor(turn / kinds[keys].length)) % values.length],
        })),
      ),
  );
}

/** Requests to send with each key while its minute or hour is used up. */
const inEachState = [
  ...ofQueries.flatMap((endpoint) => ["answering", "streaming", "streaming"].map((agent) => ({ endpoint, agent }))),
  { endpoint: "list" },
  { endpoint: "list" },
] as const satisfies readonly Row[];

/** Builds the first values of the requests to send while a limit of a key is used up. */
export const begunInStates = (keys: readonly string[], states: readonly string[]): readonly Row[] =>
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
