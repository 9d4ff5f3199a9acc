import type { Row } from "../../base/covering-array.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import type { Target } from "../../target/target.ts";
import { neededRows, type CoverageReach } from "./plan.ts";
import { isRejectedKeyKind } from "./missing-settings.ts";
import { rowsOfGroups } from "./triples.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import type { RunClock } from "../../run/time/run-clock.ts";

/**
 * Maximum number of generated requests with invalid keys, without a test clock. `few` applies if the main key has a low
 * limit per minute.
 */
const maxInvalid = { few: 3, many: 80 } as const;
export const maxValid = 40;
export const maxExecutions = 10;

/** Whether a correct server may run an agent for a request with the values of this row. */
export const runsAgent = ({ endpoint, key = "", agent, body, state, method }: Row): boolean =>
  (endpoint === "invoke" || endpoint === "stream") &&
  method === "documented" &&
  state === "fresh" &&
  !isRejectedKeyKind(key) &&
  agent !== "unknown" &&
  (body === "valid" || body === "spelled otherwise");

const executionCost = 4;
const costOf = (row: Row): number => (runsAgent(row) ? executionCost : 1);

export const hasFreshKey = ({ state }: Row): boolean => state === "fresh";

interface ChoiceOptions {
  readonly target: Target;
  readonly reach: CoverageReach;
  readonly covered: ReadonlySet<string>;
  readonly known: readonly Row[];
  readonly seed: number;
}

interface SendingTime {
  readonly leftMs: number;
  readonly perRequestMs: number;
}

/** Share of the time left that is planned for requests. The rest allows for responses that are slower than usual. */
const plannedShare = 0.5;

/**
 * Groups requests by key, valid keys first. If time is short, groups only as many requests as fit: those with the most
 * new pairs of values, e.g. `endpoint=list key=wrong`. The others follow, most new pairs first.
 */
export function inSendingOrder(
  rows: readonly Row[],
  { leftMs, perRequestMs }: SendingTime,
  newPairsIn: (row: Row) => number,
): readonly Row[] {
  const plannedMs = plannedShare * leftMs;
  const isShort = rows.length * perRequestMs > plannedMs;
  if (!isShort) return byKey(rows);
  const possible = Math.floor(plannedMs / perRequestMs);
  const byWorth = rows.toSorted((one, other) => newPairsIn(other) - newPairsIn(one));
  return [...byKey(byWorth.slice(0, possible)), ...byWorth.slice(possible)];
}

const byKey = (rows: readonly Row[]): Row[] =>
  [...Map.groupBy(rows, ({ key = "" }) => key)]
    .toSorted(([one], [other]) => Number(isRejectedKeyKind(one)) - Number(isRejectedKeyKind(other)))
    .flatMap(([, own]) => own);

export function chooseRows({ target, reach, covered, known, seed }: ChoiceOptions) {
  const { covering } = reach;
  const all = covering.cover({ covered: new Set(covered), seed, costOf, needed: neededRows(target) });
  const rows = all.filter(hasFreshKey);
  if (target.clock === null) return { all, sent: chooseAffordable(rows, covering.pairsIn, covered, target) };
  return {
    all,
    sent: [...rows, ...covering.extend({ known: [...known, ...rows], begun: rowsOfGroups(target), seed })],
  };
}

function chooseAffordable(
  rows: readonly Row[],
  pairsIn: (row: Row) => readonly string[],
  covered: ReadonlySet<string>,
  target: Target,
): readonly Row[] {
  const isScarce = hasFewRequests(target);
  const worthOf = (row: Row): number => pairsIn(row).filter((name) => !covered.has(name)).length;
  const byWorth = rows.toSorted((one, other) => worthOf(other) - worthOf(one));
  const invalid = byWorth.filter(({ key = "" }) => isRejectedKeyKind(key));
  let executions = 0;
  const valid = byWorth.filter((row) => !invalid.includes(row) && (!runsAgent(row) || executions++ < maxExecutions));
  return [
    ...invalid.slice(0, isScarce ? maxInvalid.few : maxInvalid.many),
    ...(isScarce ? [] : valid.slice(0, maxValid)),
  ];
}

const rowsPerAdvance = 8;
/**
 * Step by which the test clock advances, e.g. before every eighth request. Repeated steps of 17 s reach every second of
 * a minute. Steps of 15 s would reach only four.
 */
const advanceMs = 17_000;

/**
 * Returns a function to call before each request. With a test clock, it advances the clock before every eighth request.
 * Before a valid key's first request to an endpoint, a minute more passes, so that a new rate-limit window begins.
 */
export function passTimeBetween(time: Pick<RunClock, "canAdvance" | "passTime">): (row: Row) => Promise<void> {
  const used = new Set<string>();
  let sent = 0;
  return async ({ endpoint = "", key = "" }) => {
    if (!time.canAdvance) return;
    const name = `${endpoint} ${key}`;
    const isFirst = !isRejectedKeyKind(key) && !used.has(name);
    used.add(name);
    sent += 1;
    const stepMs = isFirst || sent % rowsPerAdvance === 0 ? advanceMs : 0;
    await time.passTime((isFirst ? minuteOverMs : 0) + stepMs, "the next window must begin");
  };
}
