import { memoizeByObject } from "../../base/memoize.ts";
import { type Check, check, observe } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { type EndpointName, publishedEndpoints } from "../../spec/endpoints.ts";
import { samplesAndExchanges, type SamplesAndExchanges } from "../headers/probes.ts";
import { keysFirstUsed } from "../coverage/first-uses.ts";
import { requestsLeaving } from "../headers/value-sequences.ts";
import type { AllExchanges } from "../shared/all-exchanges.ts";
import { elapsedSeconds, isSameWindow } from "../shared/compare-samples.ts";
import { costsMeasured, healthCostMeasured } from "./cost-probe.ts";
import {
  admissibleCosts,
  type MeasuredCost,
  measuredCostsOf,
  costsOne,
  groupOf,
  type RequestKind,
  usualCosts,
} from "./ledger.ts";
import { judgeUsageGrowth, observeKeyUsage } from "./usage-ledger.ts";

type KindTest = (kind: RequestKind) => boolean;

const isStream: KindTest = ({ endpoint, outcome }) => endpoint === "stream" && outcome === "2xx";
/** Whether requests of this kind must not lower `Remaining`: health requests that get no 401, 403 or 429. */
const mustBeFree: KindTest = (kind) => admissibleCosts(kind).max === 0;

/** A breach needs at least this many requests with a wrong cost. Another client can distort one measurement. */
const minInstances = 2;
/** Maximum number of too high (or too low) costs to examine in a group, e.g. `invoke 404`. More would take too long. */
const maxSuspects = 20;
/**
 * Minimum number of control requests near a request that is suspected of a wrong cost. Control requests have another
 * endpoint or outcome, and the usual cost.
 */
const minControls = 3;
const maxControlDistanceMs = 15_000;
/** Maximum duration of a measurement. A longer measurement may include requests of another client with the same key. */
const maxMeasurementMs = 3000;
/**
 * Minimum time per request of a control measurement: 70 % of the suspect's. In less time, fewer requests leave a
 * rolling window. They might then lower only the suspect's cost, not the control's.
 */
const minControlDurationShare = 0.7;
/**
 * Requests that leave a rolling window can make costs look too low. The harness rules out this cause if its probability
 * is at most `maxChance`.
 */
const maxChance = 0.001;

interface Ledger {
  readonly measured: readonly MeasuredCost[];
  readonly hasClock: boolean;
}

function judgeCosts({ samples, all }: SamplesAndExchanges, isCovered: KindTest): Finding<never> {
  const measured = measuredCostsOf(samples)(all);
  const others = measured.filter(
    ({ kind, isLowerBound }) => !isLowerBound && costsOne(kind) && !isStream(kind) && !isCovered(kind),
  );
  if (others.length > 0 && others.filter(({ cost }) => cost === 1).length < others.length / 2)
    return unproven("`Remaining` does not fall by one with most other requests (HDR-12)");
  const judgedCosts = measured.filter(({ kind }) => isCovered(kind));
  const groups = groupCosts(judgedCosts, "groups");
  if (![...groups.values()].some(({ length }) => length >= minInstances))
    return inapplicable("no two requests of one kind followed each other, so only the check without a ledger applies");
  const ledger = { measured, hasClock: samples.hasClock };
  for (const [group, own] of groups) {
    const wrong = findTooHigh(group, own, ledger) ?? findTooLow(own, ledger);
    if (wrong !== null) return describeWrongCosts(group, own, wrong, all);
  }
  for (const [group, own] of groupCosts(judgedCosts, "valueGroups")) {
    const wrong = findTooHigh(group, own, ledger);
    if (wrong !== null) return describeWrongCosts(group, own, wrong, all);
  }
  return holds();
}

const groupCosts = (
  measured: readonly MeasuredCost[],
  by: "groups" | "valueGroups",
): ReadonlyMap<string, readonly MeasuredCost[]> => {
  const found = new Map<string, MeasuredCost[]>();
  for (const each of measured)
    for (const group of each[by]) {
      const known = found.get(group);
      if (known === undefined) found.set(group, [each]);
      else known.push(each);
    }
  return found;
};

function findTooHigh(group: string, own: readonly MeasuredCost[], ledger: Ledger): readonly MeasuredCost[] | null {
  const [first] = own;
  if (first === undefined) return null;
  const { max } = admissibleCosts(first.kind);
  const trait = group.slice(groupOf(first.kind).length);
  const tooHigh = own
    .filter(({ cost, from, to }) => cost > max && to.headMs - from.sentMs <= maxMeasurementMs)
    .slice(0, maxSuspects)
    .filter((each) => isUndisturbed(each, ledger, (control) => !isSuspected(control, each, trait)));
  return tooHigh.length >= minInstances ? tooHigh : null;
}

const isSuspected = (control: MeasuredCost, { kind }: MeasuredCost, trait: string): boolean =>
  control.kind.endpoint === kind.endpoint ||
  control.endKinds.includes(groupOf(kind)) ||
  (trait !== "" &&
    [...control.groups, ...control.valueGroups].some((each) => each === `${groupOf(control.kind)}${trait}`) &&
    !trait.startsWith(" with the key "));

function findTooLow(own: readonly MeasuredCost[], ledger: Ledger): readonly MeasuredCost[] | null {
  const [first] = own;
  const { hasClock } = ledger;
  if (first === undefined) return null;
  const { min } = admissibleCosts(first.kind);
  const exact = own.filter(({ isLowerBound }) => !isLowerBound);
  const under = exact.filter(({ cost }) => cost < min);
  const tooLittle = under.length > exact.length / 2 ? under.slice(0, maxSuspects) : [];
  const free = mayBeGivenBack(tooLittle, hasClock)
    ? tooLittle.filter((each) => isUndisturbed(each, ledger))
    : tooLittle;
  return free.length >= minInstances && free.length > countLeaving(free, hasClock) ? free : null;
}

const countLeaving = (measured: readonly MeasuredCost[], hasClock: boolean): number =>
  new Set(measured.flatMap(({ from, to, account }) => requestsLeaving(from, to, account.samples, hasClock))).size;

/**
 * Whether a rolling window can explain why every cost in `measured` is too low. Such a window gives capacity back when
 * earlier requests expire.
 */
function mayBeGivenBack(measured: readonly MeasuredCost[], hasClock: boolean): boolean {
  if (measured.some(({ account }) => !account.isFresh)) return true;
  const chances = measured
    .map(({ from, to, count }) => ((from.limit ?? 0) / 60) * (elapsedSeconds(from, to, hasClock).max / count))
    .toSorted((one, other) => one - other)
    .slice(countLeaving(measured, hasClock));
  return chances.reduce((product, each) => product * Math.min(1, each), 1) > maxChance;
}

function isUndisturbed(
  suspect: MeasuredCost,
  { measured }: Ledger,
  isFit: (control: MeasuredCost) => boolean = () => true,
): boolean {
  const { cost, kind, account } = suspect;
  const isTooLow = cost < admissibleCosts(kind).min;
  const usual = usualAdmissible(measured);
  const controls = measured.filter(
    (each) =>
      each.account === account &&
      !each.isLowerBound &&
      groupOf(each.kind) !== groupOf(kind) &&
      isFit(each) &&
      isControl(usual.get(groupOf(each.kind)), isTooLow) &&
      Math.abs(each.from.sentMs - suspect.from.sentMs) <= maxControlDistanceMs &&
      (!isTooLow || sharesWindow(each, suspect)),
  );
  return controls.length >= minControls && controls.every((each) => each.cost === usual.get(groupOf(each.kind)));
}

const isControl = (usualCost: number | undefined, isTooLow: boolean): boolean =>
  usualCost !== undefined && (!isTooLow || usualCost === 1);

const usualAdmissible = memoizeByObject((measured: readonly MeasuredCost[]): ReadonlyMap<string, number> => {
  const kinds = new Map(measured.map(({ kind }) => [groupOf(kind), kind]));
  return new Map(
    [...usualCosts(measured)].filter(([group, cost]) => {
      const kind = kinds.get(group);
      if (kind === undefined) return false;
      const { min, max } = admissibleCosts(kind);
      return cost >= min && cost <= max;
    }),
  );
});

const sharesWindow = (control: MeasuredCost, suspect: MeasuredCost): boolean =>
  isSameWindow(control.from, suspect.from) &&
  control.from.sentClockMs === suspect.from.sentClockMs &&
  timePerRequestMs(control) >= minControlDurationShare * timePerRequestMs(suspect);

const timePerRequestMs = ({ from, to, count }: MeasuredCost): number => (to.headMs - from.sentMs) / count;

function describeWrongCosts(
  group: string,
  own: readonly MeasuredCost[],
  wrong: readonly MeasuredCost[],
  { exchanges }: AllExchanges,
): Finding<never> {
  const [{ kind, cost }] = wrong as readonly [MeasuredCost];
  const trait = group.slice(groupOf(kind).length);
  const examples = wrong.slice(0, 2);
  const falls = examples.map(
    ({ from, to, account }) => `from ${from.remaining} to ${to.remaining} (${from.id}, ${to.id}, key ${account.key})`,
  );
  const ids = new Set(examples.map(({ to }) => to.id));
  return breach(
    `${describeKind(kind)}${trait} takes ${describeCosts(kind)} from the allowance`,
    `${cost}, ${own.filter((each) => each.cost === cost).length} of ${own.length} times: \`Remaining\` fell ${falls.join(", and ")}`,
    ...exchanges.filter(({ id }) => ids.has(id)),
  );
}

function describeKind({ endpoint, outcome }: RequestKind): string {
  const what = endpoint === null ? "a request to another path" : requestLine(endpoint);
  return `${what} that got ${outcome}`;
}

function requestLine(endpoint: EndpointName): string {
  const { method, path } = publishedEndpoints[endpoint];
  return path === null ? `a ${endpoint}` : `${method} ${path}`;
}

function describeCosts(kind: RequestKind): string {
  const { min, max } = admissibleCosts(kind);
  if (max === 0) return "nothing";
  if (min === max) return String(max);
  return max === Infinity ? `at least ${min}` : `${min} or ${max}`;
}

const options = { as: "ledger", since: "1.1", also: [costsMeasured, keysFirstUsed] } as const;

export const ledgerChecks: readonly Check[] = [
  check("LIM-11", samplesAndExchanges, (given) => judgeCosts(given, isStream), options),
  check("HLT-16", samplesAndExchanges, (given) => judgeCosts(given, mustBeFree), {
    ...options,
    also: [...options.also, healthCostMeasured],
  }),
];

export const remainingCostCheck: Check = check(
  "HDR-12",
  samplesAndExchanges,
  (given) => judgeCosts(given, (kind) => !isStream(kind) && !mustBeFree(kind)),
  options,
);

export const keyUsageLedgerCheck: Check = observe("KEY-10", samplesAndExchanges, observeKeyUsage, options);

export const usageLedgerCheck: Check = check("USE-7", samplesAndExchanges, judgeUsageGrowth, options);
