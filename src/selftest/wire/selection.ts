import type { Check, Suite } from "../../run/judge/check.ts";
import { probesOf } from "../../run/judge/check.ts";
import type { Probe } from "../../run/probe.ts";
import { suites } from "../../suites/all.ts";
import { ofInstances, probeOf } from "./marked-suites.ts";
import type { Profile } from "./profile.ts";

/** Some of the checks, under a name that is the same for the same checks. */
export interface SuitesPart {
  readonly name: string;
  readonly suites: readonly Suite[];
}

const isReview = ({ stage }: Probe): boolean => stage === "review";

/** The probes of a check that send requests. */
const sendersOf = ({ on }: Check): Probe[] => Object.values(probesOf(on)).filter((probe) => !isReview(probe));

/** Every probe that the suites can run. */
const probes: ReadonlyMap<string, Probe> = new Map(
  suites
    .flatMap(({ checks }) => checks)
    .flatMap(({ on, also, companions = [], matrix }) => [
      ...Object.values(probesOf(on)),
      ...also,
      ...companions,
      ...(matrix?.coverageProbe ? [matrix.coverageProbe] : []),
    ])
    .flatMap(withPreparation)
    .map((probe) => [probe.name, probe]),
);

function withPreparation(probe: Probe): Probe[] {
  return [...(probe.after ?? []).flatMap(withPreparation), probe];
}

/**
 * The checks for which these probes are enough, and every check that judges all requests of a run. Only these probes
 * send requests.
 */
export function partOf(instances: readonly string[]): SuitesPart {
  const chosen = new Set(instances.map(probeOf));
  const companions = [...chosen].flatMap((name) => probes.get(name) ?? []);
  return {
    name: `only ${instances.toSorted().join(", ")}`,
    suites: ofInstances(
      reduced(
        (check) => sendersOf(check).every(({ name }) => chosen.has(name)),
        companions,
        (probe) => chosen.has(probe.name),
      ),
      (instance) => instances.includes(instance),
    ),
  };
}

/** Whether a probe uses up a minute or an hour of a tier. Such probes are left out unless they are needed. */
const isHeavy = (instance: string): boolean => /^an? (hour|minute)'s allowance/.test(instance);

/** All checks, without the probes that use up a minute or an hour of a tier, unless `instances` names them. */
export const wholePart = (instances: readonly string[]): SuitesPart => ({
  name: `all, with ${instances.filter(isHeavy).toSorted().join(", ")}`,
  suites: ofInstances(suites, (instance) => instances.includes(instance) || !isHeavy(instance)),
});

/** Reduces the suites to some checks, with the probes that these and `companions` need. */
function reduced(
  isWanted: (check: Check) => boolean,
  companions: readonly Probe[],
  hasProbe: (probe: Probe) => boolean,
): Suite[] {
  return suites
    .map(({ title, checks }) => ({
      title,
      checks: checks.filter(isWanted).map((check) => ({
        ...check,
        also: check.also.filter(hasProbe),
        companions,
        matrix:
          check.matrix?.coverageProbe && !hasProbe(check.matrix.coverageProbe)
            ? { ...check.matrix, coverageProbe: null }
            : check.matrix,
      })),
    }))
    .filter(({ checks }) => checks.length > 0);
}

/** Maximum number of probes in the first and cheapest try. */
const mostInFirst = 3;

/**
 * The parts of the suites to try a mutant with, the cheapest first. `instances` are the probes whose requests meet the
 * mutant's condition.
 */
export function partsFor(instances: readonly string[], { costs }: Profile): SuitesPart[] {
  const costOf = (instance: string): number => costs.get(instance) ?? 0;
  const byCost = instances.toSorted((one, other) => costOf(one) - costOf(other));
  const light = byCost.filter((each) => !isHeavy(each));
  const heavy = byCost.filter(isHeavy);
  return [
    partOf(light.length > 0 ? light.slice(0, mostInFirst) : heavy.slice(0, 1)),
    ...(light.length > 0 || heavy.length === 0 ? [wholePart([])] : []),
    ...(heavy.length > 0 ? [wholePart(heavy)] : []),
  ];
}

/** The part of the suites for a legal mutant: no clause may turn red. */
export function legalPartFor(instances: readonly string[], profile: Profile): SuitesPart {
  const heavy = instances.filter(isHeavy);
  return instances.length > heavy.length
    ? wholePart([])
    : wholePart(
        heavy.toSorted((one, other) => (profile.costs.get(one) ?? 0) - (profile.costs.get(other) ?? 0)).slice(0, 1),
      );
}
