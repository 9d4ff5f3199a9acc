import type { Row } from "../../base/covering-array.ts";
import { creatingEndpoints, dimensions } from "../../spec/dimensions.ts";
import { endpointNames } from "../../spec/endpoints.ts";
import type { Target } from "../../target/target.ts";
import { validKeyKinds, missingSettingFor } from "./missing-settings.ts";

interface RowGroup {
  readonly endpoints: readonly string[];
  readonly keys: "valid" | "refused";
  readonly values: readonly Row[];
  readonly count: number;
}

const agentEndpoints = ["invoke", "stream", "health"] as const;
const queryEndpoints = ["invoke", "stream"] as const;
const validBodies = [{ body: "valid" }, { body: "spelled otherwise" }] as const;
const answeringRoles = ["answering", "streaming", "remembering"] as const;
/** Roles for calls with invalid keys. None is slow, because a faulty server may run the agent nonetheless. */
const quickRoles = ["answering", "streaming", "failing", "failingInStream", "degraded", "unhealthy"] as const;
const failingRoles = ["failing", "failingInStream", "overloaded", "degraded", "unhealthy"] as const;
const roles = dimensions.agent.values.filter((role) => role !== "none").map((agent) => ({ agent }));
const otherEndpoints = endpointNames.filter(
  (name) => name !== "list" && ![...agentEndpoints, ...creatingEndpoints].some((each) => each === name),
);

const plainCalls = answeringRoles.flatMap((agent) => validBodies.map((body) => ({ agent, ...body })));

/**
 * Groups of requests that cover many combinations of three values. Each endpoint of a group gets `count` requests. A
 * correct server runs an agent only for the last four groups.
 */
const rowGroups: readonly RowGroup[] = [
  { endpoints: queryEndpoints, keys: "refused", values: plainCalls, count: 60 },
  { endpoints: queryEndpoints, keys: "refused", values: quickRoles.map((agent) => ({ agent })), count: 24 },
  { endpoints: ["list"], keys: "refused", values: [{}], count: 24 },
  { endpoints: ["health"], keys: "refused", values: roles, count: 60 },
  { endpoints: creatingEndpoints, keys: "refused", values: [{}], count: 36 },
  {
    endpoints: queryEndpoints,
    keys: "valid",
    values: validBodies.map((body) => ({ agent: "unknown", ...body })),
    count: 40,
  },
  {
    endpoints: queryEndpoints,
    keys: "valid",
    values: answeringRoles.map((agent) => ({ agent, body: "without query" })),
    count: 30,
  },
  { endpoints: ["list"], keys: "valid", values: [{}], count: 30 },
  { endpoints: ["health"], keys: "valid", values: roles, count: 77 },
  { endpoints: otherEndpoints, keys: "valid", values: [{}], count: 6 },
  { endpoints: queryEndpoints, keys: "valid", values: plainCalls, count: 16 },
  {
    endpoints: ["invoke"],
    keys: "valid",
    values: failingRoles.map((agent) => ({ agent, body: "spelled otherwise" })),
    count: failingRoles.length,
  },
  {
    endpoints: ["stream"],
    keys: "valid",
    values: failingRoles.map((agent) => ({ agent, body: "valid" })),
    count: failingRoles.length,
  },
  { endpoints: queryEndpoints, keys: "valid", values: [{ agent: "slow", body: "valid" }], count: 3 },
];

export function rowsOfGroups(target: Target): readonly Row[] {
  const refused = dimensions.key.refused.filter((kind) => missingSettingFor("key", kind, target) === null);
  const kinds = { valid: validKeyKinds(target), refused };
  return rowGroups.flatMap(({ endpoints, keys, values, count }) =>
    endpoints
      .filter((endpoint) => missingSettingFor("endpoint", endpoint, target) === null)
      .flatMap((endpoint) =>
        Array.from({ length: count }, (_, turn) => ({
          endpoint,
          method: "documented",
          key: kinds[keys][turn % kinds[keys].length] ?? "",
          // When every key has had a request, shifts `values` by one. Otherwise, with 3 keys and 3 values, a key would
          // always get the same value.
          ...values[(turn + Math.floor(turn / kinds[keys].length)) % values.length],
        })),
      ),
  );
}

const valuesInEachState = [
  ...queryEndpoints.flatMap((endpoint) =>
    ["answering", "streaming", "streaming"].map((agent) => ({ endpoint, agent })),
  ),
  { endpoint: "list" },
  { endpoint: "list" },
] as const satisfies readonly Row[];

export const rowsInUsedUpStates = (keys: readonly string[], states: readonly string[]): readonly Row[] =>
  states
    .filter((state) => state === "minute used up" || state === "hour used up")
    .flatMap((state) =>
      keys.flatMap((key, turn) =>
        valuesInEachState.map((values: Row, at) => ({
          method: "documented",
          key,
          state,
          ...values,
          ...(values["endpoint"] === "list" ? {} : validBodies[(turn + at) % validBodies.length]),
        })),
      ),
    );
