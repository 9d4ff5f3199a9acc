import { type Check, type Suite, probesOf } from "../../run/judge/check.ts";
import { suites } from "../../suites/all.ts";
import { probeNameOf, type Profile, selectInstances } from "./profile.ts";
import type { Probe } from "../../run/probe.ts";

/** A selection of checks. Selections with the same name are equal, so their results can be cached. */
export interface CheckSelection {
  readonly name: string;
  readonly suites: readonly Suite[];
}

const isReview = ({ stage }: Probe): boolean => stage === "review";

const sendingProbesOf = ({ on }: Check): Probe[] => Object.values(probesOf(on)).filter((probe) => !isReview(probe));

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
 * Selects the checks whose sending probes are all in `instances`. Always selects checks that judge all requests of a
 * run.
 */
export function selectByProbes(instances: readonly string[]): CheckSelection {
  const chosen = new Set(instances.map(probeNameOf));
  const companions = [...chosen].flatMap((name) => probes.get(name) ?? []);
  return {
    name: `only ${instances.toSorted().join(", ")}`,
    suites: selectInstances(
      selectChecks(
        (check) => sendingProbesOf(check).every(({ name }) => chosen.has(name)),
        companions,
        (probe) => chosen.has(probe.name),
      ),
      (instance) => instances.includes(instance),
    ),
  };
}

const exhaustsTier = (instance: string): boolean => /^an? (hour|minute)'s allowance/.test(instance);

/** Selects all checks. Of the probes that use up a tier's limit, runs only those in `instances`. */
export const selectAlmostAll = (instances: readonly string[]): CheckSelection => ({
  name: `all, with ${instances.filter(exhaustsTier).toSorted().join(", ")}`,
  suites: selectInstances(suites, (instance) => instances.includes(instance) || !exhaustsTier(instance)),
});

const allChecks: CheckSelection = { name: "everything", suites };

function selectChecks(
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

const maxProbesInFirstTry = 3;

/**
 * Returns the check selections to try, cheapest first. `instances` lists the probes that send a request affected by the
 * mutant.
 */
export function selectionsFor(instances: readonly string[], { costs }: Profile): CheckSelection[] {
  const costOf = (instance: string): number => costs.get(instance) ?? 0;
  const byCost = instances.toSorted((one, other) => costOf(one) - costOf(other));
  const light = byCost.filter((each) => !exhaustsTier(each));
  const heavy = byCost.filter(exhaustsTier);
  return [
    selectByProbes(light.length > 0 ? light.slice(0, maxProbesInFirstTry) : heavy.slice(0, 1)),
    ...(light.length > 0 || heavy.length === 0 ? [selectAlmostAll([])] : []),
    ...(heavy.length > 0 ? [selectAlmostAll(heavy)] : []),
    allChecks,
  ];
}

/**
 * Selects all checks, but no probe that uses up a tier's limit. If only such probes trigger the mutant, includes the
 * cheapest.
 */
export function legalSelectionFor(instances: readonly string[], profile: Profile): CheckSelection {
  const heavy = instances.filter(exhaustsTier);
  return instances.length > heavy.length
    ? selectAlmostAll([])
    : selectAlmostAll(
        heavy.toSorted((one, other) => (profile.costs.get(one) ?? 0) - (profile.costs.get(other) ?? 0)).slice(0, 1),
      );
}
