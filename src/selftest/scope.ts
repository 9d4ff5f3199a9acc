import { standardLimits } from "../reference/behaviour/limits.ts";
import type { Patch } from "../reference/patch.ts";
import { type Check, probesOf, type Suite } from "../run/judge/check.ts";
import { suites } from "../suites/all.ts";
import { replacedDecisions } from "./patch-groups.ts";

/**
 * How much is put to the test of each patch.
 *
 * - `own`: of a short trial the sections alone that speak of what the patch breaks; all of them where those do not show it.
 * - `short`: the probes that use up a tier's limits only where the patch concerns limits, and then on free and enterprise, whose hours
 *   take hundreds of requests and not thousands.
 * - `full`: those probes for every patch, and where it concerns limits on every tier.
 */
export type Extent = "own" | "short" | "full";

/** What one trial puts to the test. */
export interface Scope {
  readonly suites: readonly Suite[];
  /** `small`: free and enterprise; every check runs on them. `all`: pro and team as well. */
  readonly tiers: "small" | "all";
}

export function scopeOf(patch: Patch, extent: Extent): Scope {
  const isLimits = affectsLimits(patch);
  if (extent === "full") return { suites, tiers: isLimits ? "all" : "small" };
  const short = isLimits ? suites : suitesWithoutTiers;
  return { suites: extent === "own" ? short.filter((each) => judgesAny(each, patch.breaks)) : short, tiers: "small" };
}

const judgesAny = ({ checks }: Suite, clauses: readonly string[]): boolean =>
  checks.some(({ clause }) => clauses.includes(clause));

const restsOnTiers = ({ on }: Check): boolean => Object.values(probesOf(on)).some(({ per }) => per === "tier");

const suitesWithoutTiers: readonly Suite[] = suites.map((each) => ({
  ...each,
  checks: each.checks.filter((check) => !restsOnTiers(check)),
}));

const clausesOnTiers: ReadonlySet<string> = new Set(
  suites.flatMap(({ checks }) => checks.filter(restsOnTiers).map(({ clause }) => clause)),
);

/** Whether a patch replaces a decision that limits, or breaks a clause that a tier's probe shows. */
export function affectsLimits(patch: Patch): boolean {
  return (
    patch.breaks.some((clause) => clausesOnTiers.has(clause)) ||
    replacedDecisions(patch).some((decision) => decision in standardLimits)
  );
}

/** A scope with the checks of some clauses alone. */
export const judging = (clauses: readonly string[], { suites: all, tiers }: Scope): Scope => ({
  suites: all.map((each) => ({ ...each, checks: each.checks.filter(({ clause }) => clauses.includes(clause)) })),
  tiers,
});
