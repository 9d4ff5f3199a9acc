import { standardLimits } from "../reference/behaviour/limits.ts";
import type { Patch } from "../reference/patch.ts";
import { type Check, probesOf, type Suite } from "../run/judge/check.ts";
import { suites } from "../suites/all.ts";
import { replacedDecisions } from "./patch-groups.ts";

/**
 * The extent of a trial.
 *
 * - `own`: as `short`, with only the sections that cover the clauses that the patch breaks; all sections if those do not detect it.
 * - `short`: probes that exhaust a tier's limits run only for patches of limits, and on free and enterprise, whose hours take hundreds of
 *   requests rather than thousands.
 * - `full`: those probes run for every patch, and for patches of limits on every tier.
 */
export type Extent = "own" | "short" | "full";

/** The suites and tiers of one trial. */
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

/** Whether a patch replaces a decision on limits, or breaks a clause that a tier's probe covers. */
export function affectsLimits(patch: Patch): boolean {
  return (
    patch.breaks.some((clause) => clausesOnTiers.has(clause)) ||
    replacedDecisions(patch).some((decision) => decision in standardLimits)
  );
}

/** Reduces a scope to the checks of some clauses. */
export const judging = (clauses: readonly string[], { suites: all, tiers }: Scope): Scope => ({
  suites: all.map((each) => ({ ...each, checks: each.checks.filter(({ clause }) => clauses.includes(clause)) })),
  tiers,
});
