import { type Covering, type CoveringInput, prepareCovering, type Row } from "../../base/covering-array.ts";
import { memoizeByPair, memoizeByValue } from "../../base/memoize.ts";
import { mainKey, tiersUnderTest } from "../../run/plan/needs.ts";
import { type Enabler, need } from "../../run/skip-reason.ts";
import {
  type Dimension,
  dimensions,
  type Exclusion,
  exclusions,
  type KeyState,
  pairPartners,
} from "../../spec/dimensions.ts";
import { endpointNames, postEndpoints } from "../../spec/endpoints.ts";
import { type Target, usableKeys } from "../../target/target.ts";
import { validKeyKinds, missingSettingFor } from "./missing-settings.ts";
import { rowsInUsedUpStates } from "./triples.ts";

const choosableDimensions = (Object.keys(dimensions) as Dimension[]).filter((name) => !(name in pairPartners));

const inputOf = (values: (name: Dimension) => readonly string[], more: readonly Exclusion[] = []): CoveringInput => ({
  values: Object.fromEntries(choosableDimensions.map((name) => [name, values(name)])),
  refused: Object.fromEntries(choosableDimensions.map((name) => [name, dimensions[name].refused])),
  exclusions: [...exclusions, ...more],
  isPaired: () => true,
  counts: (value) => value !== "none",
});

const getEndpoints = endpointNames.filter((name) => !postEndpoints.includes(name));
const readOnlyExclusions: readonly Exclusion[] = [
  { when: { endpoint: postEndpoints }, only: { method: ["other"] }, because: "a POST is not sent" },
  { when: { endpoint: getEndpoints }, only: { method: ["documented"] }, because: "a PUT is not sent" },
];

/** Cache of covering arrays: requests that contain every pair of values. Preparing one for a target takes 0.1 s. */
const coverings = memoizeByValue((input: string): Covering => {
  const { values, readOnly } = JSON.parse(input) as {
    readonly values: Readonly<Record<Dimension, readonly string[]>>;
    readonly readOnly: boolean;
  };
  return prepareCovering(inputOf((name) => values[name], readOnly ? readOnlyExclusions : []));
});
const coveringOf = (values: (name: Dimension) => readonly string[], readOnly: boolean): Covering =>
  coverings(
    JSON.stringify({ values: Object.fromEntries(choosableDimensions.map((name) => [name, values(name)])), readOnly }),
  );

export const allPairs = (): readonly string[] => coveringOf((name) => dimensions[name].values, false).possiblePairs();

export interface CutPairs {
  readonly needs: Enabler;
  readonly pairs: number;
}

/**
 * The pairs of request values that a run can cover (`pairs`), and counts of all other pairs by the missing setting
 * (`cut`).
 */
export interface CoverageReach {
  readonly covering: Covering;
  readonly pairs: ReadonlySet<string>;
  readonly total: number;
  readonly cut: readonly CutPairs[];
}

export const reachOf = memoizeByPair((target: Target, readOnly: boolean): CoverageReach => {
  const missingFor = (name: Dimension, value: string): Enabler | null => missingSettingFor(name, value, target);
  const available = (name: Dimension): string[] =>
    dimensions[name].values.filter((value) => missingFor(name, value) === null);
  const covering = coveringOf(available, readOnly);
  const pairs = new Set(covering.possiblePairs());
  const all = allPairs();
  const cut = all
    .filter((pair) => !pairs.has(pair))
    .map((pair) => ({ needs: needOfPair(pair, missingFor, readOnly), pairs: 1 }));
  return { covering, pairs, total: all.length, cut: mergeCuts(cut) };
});

export const mergeCuts = (cuts: readonly CutPairs[]): CutPairs[] =>
  [...Map.groupBy(cuts, ({ needs }) => JSON.stringify(needs)).values()]
    .flatMap((each) =>
      each.slice(0, 1).map(({ needs }) => ({ needs, pairs: each.reduce((sum, { pairs }) => sum + pairs, 0) })),
    )
    .toSorted((one, other) => other.pairs - one.pairs);

function needOfPair(
  pair: string,
  missingFor: (name: Dimension, value: string) => Enabler | null,
  readOnly: boolean,
): Enabler {
  for (const name of choosableDimensions)
    for (const value of dimensions[name].values) {
      const cause = ` ${pair} `.includes(`${name}=${value} `) ? missingFor(name, value) : null;
      if (cause !== null) return cause;
    }
  return readOnly ? need("readOnly") : "another target file";
}

const rowsWithTwoMistakes: readonly Row[] = postEndpoints.flatMap((endpoint) => [
  { endpoint, method: "documented", key: "wrong", body: "truncated" },
  { endpoint, method: "documented", key: "missing", body: "array" },
]);

export const plainFields = {
  body: "valid",
  query: "plain",
  temperature: "absent",
  maxTokens: "absent",
  context: "absent",
  unknownParameter: "absent",
  streamParameters: "absent",
} as const satisfies Row;

const withoutQuery = {
  ...plainFields,
  session: "absent",
  body: "without query",
  query: "none",
  temperature: "0.7",
  maxTokens: "16",
  context: "object",
  unknownParameter: "present",
} as const satisfies Row;

const ofStream = { endpoint: "stream", agent: "streaming", streamParameters: "present" } as const satisfies Row;

export function neededRows(target: Target): readonly Row[] {
  const kinds = usableKeys(target).flatMap(({ tier }) => tier ?? []);
  const plain = { method: "documented", state: "fresh" };
  const invoke = { ...plain, endpoint: "invoke", key: mainKey(target)?.tier ?? "", agent: "answering" };
  return [
    ...rowsWithTwoMistakes,
    ...rowsAfterResets(target),
    ...[...new Set(kinds)].flatMap((key) =>
      ["invoke", "stream", "health"].map((endpoint) => ({
        ...plain,
        endpoint,
        key,
        agent: "unknown",
        ...(endpoint === "health" ? {} : { ...plainFields, session: "absent" }),
      })),
    ),
    ...["digits alone", "true"].map((session) => ({ ...invoke, ...plainFields, session })),
    { ...invoke, ...withoutQuery },
    { ...invoke, ...withoutQuery, ...ofStream },
    { ...invoke, ...withoutQuery, body: "query of another type" },
    { ...invoke, ...withoutQuery, ...ofStream, body: "query of another type" },
  ].filter(({ key }) => key !== "");
}

function rowsAfterResets(target: Target): readonly Row[] {
  if (target.clock === null) return [];
  const hasAgent = missingSettingFor("agent", "answering", target) === null;
  const endpoints = endpointNames.filter(
    (name) => missingSettingFor("endpoint", name, target) === null && (hasAgent || !ofAnAgent.includes(name)),
  );
  return endpoints.flatMap((endpoint) =>
    validKeyKinds(target).map((key) => ({
      endpoint,
      method: "documented",
      key,
      state: "fresh",
      ...(ofAnAgent.includes(endpoint) ? { agent: "answering" } : {}),
      ...(endpoint === "invoke" || endpoint === "stream" ? { body: "valid" } : {}),
    })),
  );
}

const ofAnAgent: readonly string[] = ["invoke", "stream", "health"];

const rowsInStates = memoizeByPair((target: Target, seed: number): readonly Row[] => {
  const { covering } = reachOf(target, false);
  const kinds = tiersUnderTest(target).map(({ tier }) => tier);
  const states = dimensions.state.refused.filter((state) => missingSettingFor("state", state, target) === null);
  const needed = states.flatMap((state) =>
    (state === "tokens spent" ? ["near quota"] : kinds).flatMap((key) => [
      ...endpointNames.map((endpoint) => ({ endpoint, key, state, method: "documented" })),
      ...["degraded", "unhealthy"].map((agent) => ({ endpoint: "health", key, state, method: "documented", agent })),
    ]),
  );
  const isWanted = (pair: string): boolean => dimensions.state.refused.some((state) => pair.includes(`state=${state}`));
  const rows = covering.cover({ covered: new Set(), seed, costOf: () => 1, needed, isWanted });
  return [...rows, ...covering.extend({ known: rows, begun: rowsInUsedUpStates(kinds, states), seed })];
});

export function rowsInState(
  target: Target,
  { key, state, seed }: { readonly key: string; readonly state: KeyState; readonly seed: number },
): readonly Row[] {
  const rows = rowsInStates(target, seed).filter((row) => row["key"] === key && row["state"] === state);
  if (target.clock !== null) return rows;
  return rows.filter((row, at) => rows.findIndex((other) => other["endpoint"] === row["endpoint"]) === at);
}
