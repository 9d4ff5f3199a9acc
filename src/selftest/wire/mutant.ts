import { seededNumbers } from "../../base/statistics/random.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import { classOf, type Condition, counts, describeCondition, peculiarities } from "./conditions.ts";
import {
  type DimensionName,
  dimensions,
  endpointsOf,
  isPossible,
  type Outcome,
  outcomeOf,
  type Values,
} from "./dimensions.ts";
import { bodyOperations } from "./operations/bodies.ts";
import { headerOperations } from "./operations/headers.ts";
import { isIllegal, type Operation } from "./operations/operation.ts";
import { requestOperations } from "./operations/requests.ts";
import { statusOperations } from "./operations/statuses.ts";
import { streamOperations } from "./operations/streams.ts";

/** A server that behaves differently under a condition. */
export interface WireMutant {
  /** Number within its seed, from 1. */
  readonly number: number;
  readonly condition: Condition;
  readonly operation: Operation;
  readonly kind: "illegal" | "legal";
  /** The class of the condition, for tables. */
  readonly conditionClass: string;
  /** Whether the condition only uses properties that the coverage tables list as dimensions. */
  readonly isDimensional: boolean;
}

/** Every operation. */
export const operations: readonly Operation[] = [
  ...headerOperations,
  ...bodyOperations,
  ...statusOperations,
  ...requestOperations,
  ...streamOperations,
];

const illegalClasses = classesOf(operations.filter(isIllegal));
// An operation that breaks only advice is neither legal nor illegal.
const legalClasses = classesOf(operations.filter(({ breaks }) => breaks.length === 0));

function classesOf(all: readonly Operation[]): readonly (readonly Operation[])[] {
  return [...Map.groupBy(all, (each) => each.class).values()];
}

/** The share of mutants that are legal. */
const legalShare = 0.25;
/** The share of conditions on properties that are no dimension of coverage, such as the length of the body. */
const peculiarShare = 1 / 3;

/** Among conditions that are no dimension, the share of those that count requests. */
const countShare = 0.3;

/** Values that make a request get an outcome, where nothing else does. */
const causes: Readonly<Partial<Record<Outcome, Values>>> = {
  "401": { key: "wrong" },
  "404": { agent: "unknown" },
  "400": { body: "without the query" },
  "429": { state: "used up" },
  "5xx": { agent: "failing" },
  "no success": { key: "elsewhere" },
};

/** The endpoints at which requests with these values can have the outcome that the operation changes. */
function possibleEndpoints(values: Values, { endpoints, outcome, requires, excludes }: Operation): EndpointName[] {
  const whole = { ...requires, ...values };
  if (!isPossible(outcome === null ? whole : { ...causes[outcome], ...whole })) return [];
  if (Object.entries(excludes).some(([name, value]) => whole[name as DimensionName] === value)) return [];
  return endpoints.filter((endpoint) => {
    const isThere = Object.entries(whole).every(([name, value]) =>
      endpointsOf(name as DimensionName, value).includes(endpoint),
    );
    if (!isThere) return false;
    if (outcome === null) return true;
    return outcomeOf(endpoint, whole) === outcome || outcomeOf(endpoint, { ...causes[outcome], ...whole }) === outcome;
  });
}

const most = <T>(items: readonly T[], numbers: () => number): T => {
  const item = items[Math.floor(numbers() * items.length)];
  if (item === undefined) throw new Error("there is nothing to draw from");
  return item;
};

/** How many values a condition of dimensions has. */
const sizes = [1, 1, 1, 1, 2, 2, 2, 2, 3, 3] as const;

/** Draws values of different dimensions that can occur together, and with the operation. */
function drawValues(operation: Operation, size: number, numbers: () => number): Values {
  for (let tries = 0; tries < 200; tries += 1) {
    let values: Values = operation.requires;
    const open = dimensions.filter(
      ({ name }) => values[name] === undefined && (name !== "endpoint" || operation.endpoints.length > 1),
    );
    for (let added = Object.keys(values).length; added < size && open.length > 0; added += 1) {
      // Half of all conditions begin with an endpoint, as people would say them.
      const isEndpoint = numbers() < 0.5 && open[0]?.name === "endpoint";
      const [dimension] = open.splice(isEndpoint ? 0 : Math.floor(numbers() * open.length), 1);
      if (dimension !== undefined) values = { ...values, [dimension.name]: most(dimension.values, numbers).name };
    }
    if (possibleEndpoints(values, operation).length > 0) return values;
  }
  return operation.requires;
}

function drawCondition(operation: Operation, numbers: () => number): Condition {
  if (numbers() >= peculiarShare)
    return { values: drawValues(operation, most(sizes, numbers), numbers), peculiarity: null, count: null };
  // A quantity in another unit shows only when some time has passed.
  const possibleCounts = operation.class === "wrong unit" ? counts.filter(({ isRepeated }) => isRepeated) : counts;
  if (numbers() < countShare)
    return { values: operation.requires, peculiarity: null, count: most(possibleCounts, numbers) };
  const values = drawValues(operation, most([0, 1, 1], numbers), numbers);
  const endpoints = possibleEndpoints(values, operation);
  const possible = peculiarities.filter(
    ({ on, excludes }) =>
      (on === null || endpoints.some((name) => on.includes(name))) &&
      !excludes({ ...(operation.outcome === null ? {} : causes[operation.outcome]), ...operation.requires, ...values }),
  );
  return { values, peculiarity: most(possible, numbers), count: null };
}

/** Draws the mutant with this number of a seed. The same seed and number always give the same mutant. */
export function drawMutant(seed: number, number: number): WireMutant {
  const numbers = seededNumbers(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b));
  // The first numbers of neighbouring seeds are alike.
  for (let skipped = 0; skipped < 8; skipped += 1) numbers();
  const kind = numbers() < legalShare ? "legal" : "illegal";
  const operation = most(most(kind === "legal" ? legalClasses : illegalClasses, numbers), numbers);
  const condition = drawCondition(operation, numbers);
  return {
    number,
    condition,
    operation,
    kind,
    conditionClass: classOf(condition),
    isDimensional: condition.peculiarity === null && condition.count === null,
  };
}

export const describeMutant = ({ condition, operation }: WireMutant): string =>
  `${operation.description}: ${describeCondition(condition)}`;

/** The endpoints at which a mutant can change an answer. */
export const endpointsOfMutant = ({
  operation: { endpoints },
  condition: { values },
}: WireMutant): readonly EndpointName[] =>
  endpoints.filter((endpoint) => values.endpoint === undefined || values.endpoint === endpoint);
