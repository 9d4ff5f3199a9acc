import { memoizeByObject } from "../../base/memoize.ts";
import { type Check, check, observe } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { type EndpointName, publishedEndpoints } from "../../spec/endpoints.ts";
import { allSamples, type AllSamples } from "../headers/probes.ts";
import { keysFirstUsed } from "../coverage/first-uses.ts";
import { requestsLeaving } from "../headers/value-sequences.ts";
import { allExchanges, type AllExchanges } from "../shared/all-exchanges.ts";
import { elapsedSeconds, isSameWindow } from "../shared/compare-samples.ts";
import { costsMeasured, healthCostMeasured } from "./cost-probe.ts";
import { admissibleCosts, type Charge, chargesOf, costsOne, groupOf, type RequestKind, usualCosts } from "./ledger.ts";
import { judgeUsageGrowth, observeKeyUsage } from "./usage-ledger.ts";

/** A test of whether a clause covers a kind of request. */
type KindTest = (kind: RequestKind) => boolean;

const isStream: KindTest = ({ endpoint, outcome }) => endpoint === "stream" && outcome === "2xx";
/**
 * Whether a kind of request must cost nothing. A successful health request must; a health request that is refused for
 * its key may cost 1, like any other refusal.
 */
const isFree: KindTest = (kind) => admissibleCosts(kind).max === 0;

/** Minimum number of wrong costs to prove a breach. A single one may come from another client of the key. */
const minInstances = 2;
/** Maximum number of wrong costs to examine in a group of requests. A fault shows in all of them. */
const maxSuspects = 20;
/**
 * Minimum number of controls for a charge (the measured cost of a request). Controls are requests of other kinds with
 * their usual cost, sent at about the same time.
 */
const minControls = 3;
/** Maximum time between a charge and its controls, in ms. */
const maxControlDistanceMs = 15_000;
/**
 * A control must have taken at least this share of the time that the charge took. In much less time, the window may
 * give back nothing.
 */
const minControlSpan = 0.7;
/** Wrong costs are a breach if the chance that a window gave back a request at each of them is below this. */
const maxChance = 0.001;

interface Ledger {
  readonly charges: readonly Charge[];
  readonly hasClock: boolean;
}

/** Judges the costs of all requests of a run. `isMeant` chooses the kinds of requests that the clause covers. */
function judgeCosts(samples: AllSamples, all: AllExchanges, isMeant: KindTest): Finding<never> {
  const charges = chargesOf(samples)(all);
  const others = charges.filter(
    ({ kind, isLowerBound }) => !isLowerBound && costsOne(kind) && !isStream(kind) && !isMeant(kind),
  );
  if (others.length > 0 && others.filter(({ cost }) => cost === 1).length < others.length / 2)
    return unproven("`Remaining` does not fall by one with most other requests (HDR-12)");
  const judgedCharges = charges.filter(({ kind }) => isMeant(kind));
  const groups = groupCharges(judgedCharges, "groups");
  if (![...groups.values()].some(({ length }) => length >= minInstances))
    return inapplicable("no two requests of one kind followed each other, so only the check without a ledger applies");
  const ledger = { charges, hasClock: samples.hasClock };
  for (const [group, own] of groups) {
    const wrong = findTooHigh(group, own, ledger) ?? findTooLow(own, ledger);
    if (wrong !== null) return describeWrong(group, own, wrong, all);
  }
  for (const [group, own] of groupCharges(judgedCharges, "valueGroups")) {
    const wrong = findTooHigh(group, own, ledger);
    if (wrong !== null) return describeWrong(group, own, wrong, all);
  }
  return holds();
}

const groupCharges = (
  charges: readonly Charge[],
  by: "groups" | "valueGroups",
): ReadonlyMap<string, readonly Charge[]> => {
  const found = new Map<string, Charge[]>();
  for (const charge of charges)
    for (const group of charge[by]) {
      const known = found.get(group);
      if (known === undefined) found.set(group, [charge]);
      else known.push(charge);
    }
  return found;
};

/**
 * Finds charges (measured costs) of a group that are too high. Two are enough, because a target may charge too much
 * only now and then.
 */
function findTooHigh(group: string, own: readonly Charge[], ledger: Ledger): readonly Charge[] | null {
  const [first] = own;
  if (first === undefined) return null;
  const { max } = admissibleCosts(first.kind);
  const trait = group.slice(groupOf(first.kind).length);
  const charged = own
    .filter(({ cost }) => cost > max)
    .slice(0, maxSuspects)
    .filter((each) => isUndisturbed(each, ledger, (control) => !isSuspected(control, each, trait)));
  return charged.length >= minInstances ? charged : null;
}

/**
 * Whether a control may itself cost too much for the same reason as the suspected charge. That is possible if both are
 * of one endpoint, if both have the same trait, such as a parameter, or if the control lies next to a request of the
 * suspected kind.
 */
const isSuspected = (control: Charge, { kind }: Charge, trait: string): boolean =>
  control.kind.endpoint === kind.endpoint ||
  control.between.includes(groupOf(kind)) ||
  (trait !== "" &&
    [...control.groups, ...control.valueGroups].some((each) => each === `${groupOf(control.kind)}${trait}`) &&
    !trait.startsWith(" with the key "));

/**
 * Finds charges (measured costs) of a group that are too low. More than half of the group must be, because a window may
 * give back requests at any time.
 */
function findTooLow(own: readonly Charge[], ledger: Ledger): readonly Charge[] | null {
  const [first] = own;
  const { hasClock } = ledger;
  if (first === undefined) return null;
  const { min } = admissibleCosts(first.kind);
  const exact = own.filter(({ isLowerBound }) => !isLowerBound);
  const under = exact.filter(({ cost }) => cost < min);
  const tooLittle = under.length > exact.length / 2 ? under.slice(0, maxSuspects) : [];
  const free = isGivenBack(tooLittle, hasClock) ? tooLittle.filter((each) => isUndisturbed(each, ledger)) : tooLittle;
  return free.length >= minInstances && free.length > leavingAny(free, hasClock) ? free : null;
}

/** Number of earlier requests that may have left a rolling window during one of these charges (measured costs). */
const leavingAny = (charges: readonly Charge[], hasClock: boolean): number =>
  new Set(charges.flatMap(({ from, to, account }) => requestsLeaving(from, to, account.samples, hasClock))).size;

/**
 * Whether a window may have given back a request at each of the charges. A token bucket refills at most its whole limit
 * in a minute. Requests from before the run may leave a window at any time.
 */
function isGivenBack(charges: readonly Charge[], hasClock: boolean): boolean {
  if (charges.some(({ account }) => !account.isFresh)) return true;
  const chances = charges
    .map(({ from, to, count }) => ((from.limit ?? 0) / 60) * (elapsedSeconds(from, to, hasClock).max / count))
    .toSorted((one, other) => one - other)
    .slice(leavingAny(charges, hasClock));
  return chances.reduce((product, each) => product * Math.min(1, each), 1) > maxChance;
}

/**
 * Whether enough requests of other kinds had their usual cost at about the time of a charge. If so, neither another
 * client of the key, nor returned requests, nor late counting explains the charge.
 */
function isUndisturbed(charge: Charge, { charges }: Ledger, isFit: (control: Charge) => boolean = () => true): boolean {
  const { cost, kind, account } = charge;
  const isTooLow = cost < admissibleCosts(kind).min;
  const usual = usualAdmissible(charges);
  const controls = charges.filter(
    (each) =>
      each.account === account &&
      !each.isLowerBound &&
      groupOf(each.kind) !== groupOf(kind) &&
      isFit(each) &&
      isControl(usual.get(groupOf(each.kind)), isTooLow) &&
      Math.abs(each.from.sentMs - charge.from.sentMs) <= maxControlDistanceMs &&
      (!isTooLow || sharesWindow(each, charge)),
  );
  return controls.length >= minControls && controls.every((each) => each.cost === usual.get(groupOf(each.kind)));
}

/**
 * Whether a kind with this usual cost can provide controls. To prove a cost that is too low, free requests are no
 * controls: they do not show whether a window gave back requests.
 */
const isControl = (cost: number | undefined, isTooLow: boolean): boolean =>
  cost !== undefined && (!isTooLow || cost === 1);

/** The usual cost of each kind, if the document allows that cost. */
const usualAdmissible = memoizeByObject((charges: readonly Charge[]): ReadonlyMap<string, number> => {
  const kinds = new Map(charges.map(({ kind }) => [groupOf(kind), kind]));
  return new Map(
    [...usualCosts(charges)].filter(([group, cost]) => {
      const kind = kinds.get(group);
      if (kind === undefined) return false;
      const { min, max } = admissibleCosts(kind);
      return cost >= min && cost <= max;
    }),
  );
});

/**
 * Whether both charges lie in the same window and took about the same time. A window that gave back a request during
 * the charge would then have done so during the control, too.
 */
const sharesWindow = (control: Charge, charge: Charge): boolean =>
  isSameWindow(control.from, charge.from) &&
  control.from.sentClockMs === charge.from.sentClockMs &&
  spanMs(control) >= minControlSpan * spanMs(charge);

/** Time from the first request to the last response, divided by the number of requests. */
const spanMs = ({ from, to, count }: Charge): number => (to.headMs - from.sentMs) / count;

function describeWrong(
  group: string,
  own: readonly Charge[],
  wrong: readonly Charge[],
  { exchanges }: AllExchanges,
): Finding<never> {
  const [{ kind, cost }] = wrong as readonly [Charge];
  const trait = group.slice(groupOf(kind).length);
  const falls = wrong.slice(0, 2).map(({ from, to, account }) => {
    return `from ${from.remaining} to ${to.remaining} (${from.id}, ${to.id}, key ${account.key})`;
  });
  const shown = new Set(wrong.slice(0, 2).map(({ to }) => to.id));
  return breach(
    `${describeKind(kind)}${trait} takes ${describeCosts(kind)} from the allowance`,
    `${cost}, ${own.filter((each) => each.cost === cost).length} of ${own.length} times: \`Remaining\` fell ${falls.join(", and ")}`,
    ...exchanges.filter(({ id }) => shown.has(id)),
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

const evidence = { samples: allSamples, all: allExchanges } as const;
const options = { as: "ledger", since: "1.1", also: [costsMeasured, keysFirstUsed] } as const;

export const ledgerChecks: readonly Check[] = [
  check("LIM-11", evidence, ({ samples, all }) => judgeCosts(samples, all, isStream), options),
  check("HLT-16", evidence, ({ samples, all }) => judgeCosts(samples, all, isFree), {
    ...options,
    also: [...options.also, healthCostMeasured],
  }),
];

/** This check belongs to the suite `headers`. */
export const remainingLedger: Check = check(
  "HDR-12",
  evidence,
  ({ samples, all }) => judgeCosts(samples, all, (kind) => !isStream(kind) && !isFree(kind)),
  options,
);

/** This check belongs to the suite `keys`. */
export const keyUsageLedger: Check = observe(
  "KEY-10",
  evidence,
  ({ samples, all }) => observeKeyUsage(samples, all),
  options,
);

/** This check belongs to the suite `usage`. */
export const usageLedger: Check = check(
  "USE-7",
  evidence,
  ({ samples, all }) => judgeUsageGrowth(samples, all),
  options,
);
