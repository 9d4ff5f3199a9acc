import { standardLimits } from "../reference/behaviour/limits.ts";
import type { Patch } from "../reference/patch.ts";
import { type Check, probesOf, type Suite, filterChecks } from "../run/judge/check.ts";
import { suites } from "../suites/all.ts";
import { replacedDecisions } from "./patch-groups.ts";

/**
 * How much a trial of a patch (a fault or a variant) runs.
 *
 * - `own`: like `short`, but only the suites of the clauses that the patch breaks. If these do not detect the patch,
 * all suites run.
 * - `short`: probes that exhaust limits run only for patches of limits, and only with the free and enterprise tiers.
 * The hourly limits of these are hundreds of requests, not thousands.
 * - `full`: probes that exhaust limits run for every patch. For patches of limits they use every tier.
 */
export type TrialExtent = "own" | "short" | "full";

/** The suites that one trial runs, and the tiers whose keys it has. */
export interface TrialScope {
  readonly suites: readonly Suite[];
  /** `small`: free and enterprise, which are enough to run every check. `all`: pro and team as well. */
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

/** Whether a patch changes how the server limits requests, or breaks a clause that is tested once for each tier. */
export function affectsLimits(patch: Patch): boolean {
  return (
    patch.breaks.some((clause) => clausesOnTiers.has(clause)) ||
    replacedDecisions(patch).some((decision) => decision in standardLimits)
  );
}

/** Returns the scope, with only the checks of these clauses. */
export const withOnlyClauses = (clauses: readonly string[], { suites: all, tiers }: TrialScope): TrialScope => ({
  suites: filterChecks(all, ({ clause }) => clauses.includes(clause)),
  tiers,
});
