import { seededRandom } from "../../base/numbers.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import { conditionClassOf, type Condition, numberRules, describeCondition, extraProperties } from "./conditions.ts";
import {
  conditionDimensions,
  isCreating,
  isPossible,
  type PrescribedResponse,
  prescribedResponse,
  type DimensionValues,
  valuesOf,
} from "./dimensions.ts";
import { bodyMutations } from "./mutations/bodies.ts";
import { headerMutations } from "./mutations/headers.ts";
import { isIllegal, type Mutation } from "./mutations/mutation.ts";
import { requestMutations } from "./mutations/requests.ts";
import { statusMutations } from "./mutations/statuses.ts";
import { streamMutations } from "./mutations/streams.ts";

/**
 * A server that deviates from the reference server in one way whenever a request meets a condition. The deviation may
 * be legal.
 */
export interface WireMutant {
  /** Number of the mutant, from 1. The seed and the number together determine the mutant. */
  readonly number: number;
  readonly condition: Condition;
  readonly mutation: Mutation;
  readonly kind: "illegal" | "legal";
  readonly conditionClass: string;
  /** Whether the condition consists of dimension values only, such as an endpoint and a kind of key. */
  readonly isDimensional: boolean;
}

export const mutations: readonly Mutation[] = [
  ...headerMutations,
  ...bodyMutations,
  ...statusMutations,
  ...requestMutations,
  ...streamMutations,
];

const illegalClasses = classesOf(mutations.filter(isIllegal));
// Mutations that break only `should` or advisory clauses are never drawn: they are neither legal nor illegal.
const legalClasses = classesOf(mutations.filter(({ breaks }) => breaks.length === 0));

function classesOf(all: readonly Mutation[]): readonly (readonly Mutation[])[] {
  return [...Map.groupBy(all, (each) => each.class).values()];
}

const legalShare = 0.25;
/** Share of the mutants with an extra condition, such as a long body or "every third request". */
const extraConditionShare = 1 / 3;

/**
 * Share of number rules ("every third request") among the extra conditions. The others are properties, e.g. a long
 * body.
 */
const numberRuleShare = 0.3;

/** Request values that cause each response, e.g. a wrong key for 401. `completeValues` chooses the values for 400. */
const causingValues: Readonly<Partial<Record<PrescribedResponse, DimensionValues>>> = {
  "401": { key: "wrong" },
  "404": { agent: "unknown" },
  "429": { state: "minute used up" },
  "5xx": { agent: "failing" },
  "no success": { key: "other address" },
};

function completeValues(
  values: DimensionValues,
  { prescribed, requires }: Mutation,
  endpoint: EndpointName,
): DimensionValues {
  const takesQuery = endpoint === "invoke" || endpoint === "stream";
  const cause =
    prescribed === "400"
      ? { body: takesQuery ? "without query" : "truncated" }
      : prescribed === null
        ? {}
        : causingValues[prescribed];
  const creation = prescribed === "success" && isCreating(endpoint) ? { body: "valid" } : {};
  return { ...cause, ...creation, ...requires, ...values, endpoint };
}

const possibleEndpoints = (values: DimensionValues, mutation: Mutation): EndpointName[] =>
  mutation.endpoints.filter((endpoint) => {
    if (values.endpoint !== undefined && values.endpoint !== endpoint) return false;
    const whole = completeValues(values, mutation, endpoint);
    const { prescribed, excludes } = mutation;
    if (!isPossible({ method: "documented", ...whole })) return false;
    if (excludes(whole)) return false;
    return prescribed === null || prescribedResponse(endpoint, whole) === prescribed;
  });

const drawOne = <T>(items: readonly T[], numbers: () => number): T => {
  const item = items[Math.floor(numbers() * items.length)];
  if (item === undefined) throw new Error("there is nothing to draw from");
  return item;
};

/**
 * Possible numbers of values in a condition, e.g. 2 for an endpoint and a key. A number that is listed more often is
 * drawn more often.
 */
const conditionSizes = [1, 1, 2, 2, 2, 2, 2, 3, 3, 3] as const;

function requiredValues({ requires, endpoints: [endpoint, ...others] }: Mutation): DimensionValues {
  return endpoint === undefined || others.length > 0 ? requires : { ...requires, endpoint };
}

/**
 * Draws request values for a mutation, e.g. `{ endpoint: "list", key: "wrong" }`. After 200 impossible draws, returns
 * only the values that the mutation requires.
 */
function drawValues(mutation: Mutation, size: number, numbers: () => number): DimensionValues {
  for (let tries = 0; tries < 200; tries += 1) {
    let values = requiredValues(mutation);
    const open = conditionDimensions.filter((name) => values[name] === undefined);
    for (let added = Object.keys(values).length; added < size && open.length > 0; added += 1) {
      // Real bugs often concern only one endpoint. Therefore, `endpoint` is chosen more often than other dimensions.
      const isEndpoint = numbers() < 0.5 && open[0] === "endpoint";
      const [name] = open.splice(isEndpoint ? 0 : Math.floor(numbers() * open.length), 1);
      if (name !== undefined) values = { ...values, [name]: drawOne(valuesOf(name), numbers) };
    }
    if (possibleEndpoints(values, mutation).length > 0) return values;
  }
  return requiredValues(mutation);
}

function drawCondition(mutation: Mutation, numbers: () => number): Condition {
  if (numbers() >= extraConditionShare)
    return {
      values: drawValues(mutation, drawOne(conditionSizes, numbers), numbers),
      extraProperty: null,
      numberRule: null,
    };
  // Checks notice these two classes of mutations only if they repeat. A single value can be 0, which is the same in
  // every unit. A check can mistake a single double charge for a request of another client.
  const needsRepetition = mutation.class === "wrong unit" || mutation.class === "charge twice";
  const possibleRules = needsRepetition ? numberRules.filter(({ isRepeated }) => isRepeated) : numberRules;
  if (numbers() < numberRuleShare)
    return { values: requiredValues(mutation), extraProperty: null, numberRule: drawOne(possibleRules, numbers) };
  // Drops the ages `first` and `second`, because a key's first two requests rarely have the extra property as well.
  const { age, ...others } = drawValues(mutation, drawOne([0, 1, 1], numbers), numbers);
  const values: DimensionValues = age === "after a reset" ? { ...others, age } : others;
  const endpoints = possibleEndpoints(values, mutation);
  const possible = extraProperties.filter(
    ({ on, excludes }) =>
      (on === null || endpoints.some((name) => on.includes(name))) &&
      endpoints.some((name) => !excludes(completeValues(values, mutation, name))),
  );
  return { values, extraProperty: drawOne(possible, numbers), numberRule: null };
}

/** Draws a mutant. The same seed and number always give the same mutant. */
export function drawMutant(seed: number, number: number): WireMutant {
  const numbers = seededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b));
  // Skips the first random numbers, because similar seeds give similar first numbers.
  for (let skipped = 0; skipped < 8; skipped += 1) numbers();
  const kind = numbers() < legalShare ? "legal" : "illegal";
  const mutation = drawOne(drawOne(kind === "legal" ? legalClasses : illegalClasses, numbers), numbers);
  const condition = drawCondition(mutation, numbers);
  return {
    number,
    condition,
    mutation,
    kind,
    conditionClass: conditionClassOf(condition),
    isDimensional: condition.extraProperty === null && condition.numberRule === null,
  };
}

export const describeMutant = ({ condition, mutation }: WireMutant): string =>
  `${mutation.description}: ${describeCondition(condition)}`;

export const endpointsOfMutant = ({
  mutation: { endpoints },
  condition: { values },
}: WireMutant): readonly EndpointName[] =>
  endpoints.filter((endpoint) => values.endpoint === undefined || values.endpoint === endpoint);
