import { seededNumbers } from "../../base/statistics/random.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import { classOf, type Condition, counts, describeCondition, peculiarities } from "./conditions.ts";
import { conditionDimensions, isPossible, type Outcome, outcomeOf, type Values, valuesOf } from "./dimensions.ts";
import { bodyOperations } from "./operations/bodies.ts";
import { headerOperations } from "./operations/headers.ts";
import { isIllegal, type Operation } from "./operations/operation.ts";
import { requestOperations } from "./operations/requests.ts";
import { statusOperations } from "./operations/statuses.ts";
import { streamOperations } from "./operations/streams.ts";

/** A server that behaves differently whenever a request meets a condition. */
export interface WireMutant {
  /** Number within its seed, from 1. */
  readonly number: number;
  readonly condition: Condition;
  readonly operation: Operation;
  readonly kind: "illegal" | "legal";
  /** The kind of the condition, for tables. */
  readonly conditionClass: string;
  /** Whether the condition is only about dimensions, and not about peculiarities or the number of the request. */
  readonly isDimensional: boolean;
}

/** All operations, which are the ways in which a mutant can change a response. */
export const operations: readonly Operation[] = [
  ...headerOperations,
  ...bodyOperations,
  ...statusOperations,
  ...requestOperations,
  ...streamOperations,
];

const illegalClasses = classesOf(operations.filter(isIllegal));
// Legal operations by class. Operations that break only `should` or advisory clauses are neither legal nor illegal.
const legalClasses = classesOf(operations.filter(({ breaks }) => breaks.length === 0));

function classesOf(all: readonly Operation[]): readonly (readonly Operation[])[] {
  return [...Map.groupBy(all, (each) => each.class).values()];
}

/** The share of mutants that are legal. */
const legalShare = 0.25;
/** The share of conditions about something other than dimensions, such as the length of the body. */
const peculiarShare = 1 / 3;

/** The share of the conditions in `peculiarShare` that are about the number of the request. */
const countShare = 0.3;

/** For each outcome: values of a request that cause it. A plain request succeeds. */
const causes: Readonly<Partial<Record<Outcome, Values>>> = {
  "401": { key: "wrong" },
  "404": { agent: "unknown" },
  "429": { state: "minute used up" },
  "5xx": { agent: "failing" },
  "no success": { key: "other address" },
};

/**
 * Adds to the values of a condition those that the operation needs. Requests with all these values have the outcome
 * whose responses the operation changes.
 */
function completeValues(values: Values, { outcome, requires }: Operation, endpoint: EndpointName): Values {
  const takesQuery = endpoint === "invoke" || endpoint === "stream";
  const cause =
    outcome === "400" ? { body: takesQuery ? "without query" : "truncated" } : outcome === null ? {} : causes[outcome];
  return { ...cause, ...requires, ...values, endpoint };
}

/** The endpoints at which requests with these values have the outcome that the operation changes. */
const possibleEndpoints = (values: Values, operation: Operation): EndpointName[] =>
  operation.endpoints.filter((endpoint) => {
    if (values.endpoint !== undefined && values.endpoint !== endpoint) return false;
    const whole = completeValues(values, operation, endpoint);
    const { outcome, excludes } = operation;
    if (!isPossible({ method: "documented", ...whole })) return false;
    if (excludes(whole)) return false;
    return outcome === null || outcomeOf(endpoint, whole) === outcome;
  });

const pick = <T>(items: readonly T[], numbers: () => number): T => {
  const item = items[Math.floor(numbers() * items.length)];
  if (item === undefined) throw new Error("there is nothing to draw from");
  return item;
};

/**
 * Possible numbers of values in a condition, the endpoint included. A number that is listed more often is drawn more
 * often.
 */
const sizes = [1, 1, 2, 2, 2, 2, 2, 3, 3, 3] as const;

/**
 * The values that an operation requires. These values include the endpoint if the operation applies to only one
 * endpoint.
 */
function ownValues({ requires, endpoints: [endpoint, ...others] }: Operation): Values {
  return endpoint === undefined || others.length > 0 ? requires : { ...requires, endpoint };
}

/**
 * Draws values of different dimensions that one request can have. Repeats this until the operation can apply to such a
 * request.
 */
function drawValues(operation: Operation, size: number, numbers: () => number): Values {
  for (let tries = 0; tries < 200; tries += 1) {
    let values = ownValues(operation);
    const open = conditionDimensions.filter((name) => values[name] === undefined);
    for (let added = Object.keys(values).length; added < size && open.length > 0; added += 1) {
      // Half of all conditions name an endpoint, because real bugs often concern only one.
      const isEndpoint = numbers() < 0.5 && open[0] === "endpoint";
      const [name] = open.splice(isEndpoint ? 0 : Math.floor(numbers() * open.length), 1);
      if (name !== undefined) values = { ...values, [name]: pick(valuesOf(name), numbers) };
    }
    if (possibleEndpoints(values, operation).length > 0) return values;
  }
  return ownValues(operation);
}

function drawCondition(operation: Operation, numbers: () => number): Condition {
  if (numbers() >= peculiarShare)
    return { values: drawValues(operation, pick(sizes, numbers), numbers), peculiarity: null, count: null };
  // Some durations are 0 in the first responses, which is the same in every unit. So mutants with a wrong unit must not
  // change only one of the first requests.
  // One request charged twice is no violation that can be proven, because another client may have used the key.
  const needsRepetition = operation.class === "wrong unit" || operation.class === "charge twice";
  const possibleCounts = needsRepetition ? counts.filter(({ isRepeated }) => isRepeated) : counts;
  if (numbers() < countShare)
    return { values: ownValues(operation), peculiarity: null, count: pick(possibleCounts, numbers) };
  const values = drawValues(operation, pick([0, 1, 1], numbers), numbers);
  const endpoints = possibleEndpoints(values, operation);
  const possible = peculiarities.filter(
    ({ on, excludes }) =>
      (on === null || endpoints.some((name) => on.includes(name))) &&
      endpoints.some((name) => !excludes(completeValues(values, operation, name))),
  );
  return { values, peculiarity: pick(possible, numbers), count: null };
}

/** Draws a mutant. The same seed and number always give the same mutant. */
export function drawMutant(seed: number, number: number): WireMutant {
  const numbers = seededNumbers(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b));
  // Similar seeds give similar first random numbers, so the first ones are skipped.
  for (let skipped = 0; skipped < 8; skipped += 1) numbers();
  const kind = numbers() < legalShare ? "legal" : "illegal";
  const operation = pick(pick(kind === "legal" ? legalClasses : illegalClasses, numbers), numbers);
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

/** The endpoints at which a mutant can change a response. */
export const endpointsOfMutant = ({
  operation: { endpoints },
  condition: { values },
}: WireMutant): readonly EndpointName[] =>
  endpoints.filter((endpoint) => values.endpoint === undefined || values.endpoint === endpoint);
