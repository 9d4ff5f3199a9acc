import { standardLimits } from "../reference/behaviour/limits.ts";
import { type Behaviour, type Override, type Patch, standardBehaviour } from "../reference/patch.ts";
import { type Check, probesOf, type Suite, filterChecks } from "../run/judge/check.ts";
import { suites } from "../suites/all.ts";

/**
 * Extent of a trial. `full`: all suites. `short`: leaves out tests that repeat for each tier, or some of the tiers.
 * `own`: like `short`, but only the suites that judge a clause that the patch breaks.
 */
export type TrialExtent = "own" | "short" | "full";

export interface TrialScope {
  readonly suites: readonly Suite[];
  /** `small`: the trial uses no unrestricted pro or team keys. The other keys suffice to run every check. */
  readonly tiers: "small" | "all";
}

export function scopeOf(patch: Patch, extent: TrialExtent): TrialScope {
  const isLimits = affectsLimits(patch);
  if (extent === "full") return { suites, tiers: isLimits ? "all" : "small" };
  const short = isLimits ? suites : suitesWithoutTiers;
  return { suites: extent === "own" ? short.filter((each) => judgesAny(each, patch.breaks)) : short, tiers: "small" };
}

const judgesAny = ({ checks }: Suite, clauses: readonly string[]): boolean =>
  checks.some(({ clause }) => clauses.includes(clause));

const usesTierProbe = ({ on }: Check): boolean => Object.values(probesOf(on)).some(({ per }) => per === "tier");

const suitesWithoutTiers: readonly Suite[] = filterChecks(suites, (check) => !usesTierProbe(check));

const clausesOnTiers: ReadonlySet<string> = new Set(
  suites.flatMap(({ checks }) => checks.filter(usesTierProbe).map(({ clause }) => clause)),
);

/** Whether a patch changes how the server limits requests, or breaks a clause that is tested for each tier. */
export function affectsLimits(patch: Patch): boolean {
  return (
    patch.breaks.some((clause) => clausesOnTiers.has(clause)) ||
    replacedDecisions(patch).some((decision) => decision in standardLimits)
  );
}

export const withOnlyClauses = (clauses: readonly string[], { suites: all, tiers }: TrialScope): TrialScope => ({
  suites: filterChecks(all, ({ clause }) => clauses.includes(clause)),
  tiers,
});

export function faultsCoveringClauses(faults: readonly Patch[]): readonly Patch[] {
  const open = new Set(faults.flatMap(({ breaks }) => breaks));
  return faults.filter(({ breaks }) => {
    const isNeeded = breaks.some((clause) => open.has(clause));
    for (const clause of breaks) open.delete(clause);
    return isNeeded;
  });
}

/** Divides variants into groups of at most `maxSize`. No two variants of a group replace the same function. */
export function groupCompatibleVariants(variants: readonly Patch[], maxSize: number): readonly (readonly Patch[])[] {
  const groups: { readonly taken: Set<string>; readonly members: Patch[] }[] = [];
  for (const variant of variants) {
    const decisions = replacedDecisions(variant);
    const fits = groups.find(
      ({ taken, members }) => members.length < maxSize && !decisions.some((decision) => taken.has(decision)),
    );
    const group = fits ?? { taken: new Set<string>(), members: [] };
    if (fits === undefined) groups.push(group);
    group.members.push(variant);
    for (const decision of decisions) group.taken.add(decision);
  }
  return groups.map(({ members }) => members);
}

export function replacedDecisions({ override }: Patch): (keyof Behaviour)[] {
  const after: Partial<Behaviour> = override(standardBehaviour);
  return (Object.keys(after) as (keyof Behaviour)[]).filter(
    (decision) => after[decision] !== standardBehaviour[decision],
  );
}

/** Combines faults or variants into one patch, which applies them in order. */
export function combinePatches(patches: readonly Patch[]): Patch {
  const [first, second] = patches;
  if (first !== undefined && second === undefined) return first;
  const override: Override = (base) =>
    patches.reduce<Behaviour>((left, each) => ({ ...left, ...each.override(left) }), base);
  return {
    name: patches.map(({ name }) => name).join(" + "),
    kind: patches.every(({ kind }) => kind === "variant") ? "variant" : "fault",
    section: "",
    summary: "",
    breaks: [...new Set(patches.flatMap(({ breaks }) => breaks))],
    mayAlsoBreak: [...new Set(patches.flatMap(({ mayAlsoBreak }) => mayAlsoBreak))],
    detectedBy: "suites",
    override,
  };
}
