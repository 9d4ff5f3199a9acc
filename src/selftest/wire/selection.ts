import type { Check, Suite } from "../../run/judge/check.ts";
import { probesOf } from "../../run/judge/check.ts";
import type { Probe } from "../../run/probe.ts";
import { suites } from "../../suites/all.ts";
import { ofInstances, probeOf } from "./marked-suites.ts";
import type { Profile } from "./profile.ts";

/** Some of the checks, with a name that identifies the selection. */
export interface SuitesPart {
  readonly name: string;
  readonly suites: readonly Suite[];
}

const isReview = ({ stage }: Probe): boolean => stage === "review";

/** The probes of a check, without those of the stage `review`, which send nothing. */
const sendersOf = ({ on }: Check): Probe[] => Object.values(probesOf(on)).filter((probe) => !isReview(probe));

/** All probes of the suites, by name. */
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
 * Returns the checks that need no other probes than those in `instances`. Checks that judge all requests of a run are
 * among them.
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

/** Whether a probe uses up the minute or the hour of a tier, which takes many requests. */
const isHeavy = (instance: string): boolean => /^an? (hour|minute)'s allowance/.test(instance);

/**
 * Returns all checks. Leaves out the probes that use up the minute or the hour of a tier, except those in `instances`.
 */
export const wholePart = (instances: readonly string[]): SuitesPart => ({
  name: `all, with ${instances.filter(isHeavy).toSorted().join(", ")}`,
  suites: ofInstances(suites, (instance) => instances.includes(instance) || !isHeavy(instance)),
});

/** All checks with all their probes: what a vendor's run has. */
const everything: SuitesPart = { name: "everything", suites };

/** Returns the checks that `isWanted` accepts, with the probes that these checks need and with `companions`. */
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

/** Maximum number of probes in the first try, which is the cheapest. */
const mostInFirst = 3;

/**
 * Returns the selections of checks with which to try a mutant, the cheapest first. `instances` are the probes whose
 * requests meet the mutant's condition.
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
    everything,
  ];
}

/**
 * Returns the selection of checks for a legal mutant. No clause may turn red, so all checks run. If only heavy probes
 * send requests that meet the condition, the cheapest of them runs as well.
 */
export function legalPartFor(instances: readonly string[], profile: Profile): SuitesPart {
  const heavy = instances.filter(isHeavy);
  return instances.length > heavy.length
    ? wholePart([])
    : wholePart(
        heavy.toSorted((one, other) => (profile.costs.get(one) ?? 0) - (profile.costs.get(other) ?? 0)).slice(0, 1),
      );
}
