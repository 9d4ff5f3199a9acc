import { type Check, probesOf, type Suite } from "../../run/judge/check.ts";
import { type Enabler, moreTime, need, tierOfKey, type Messages } from "../../run/skip-reason.ts";
import { resolveNeeds, tiersUnderTest } from "../../run/plan/needs.ts";
import type { PlannedProbe } from "../../run/plan/plan.ts";
import type { Probe } from "../../run/probe.ts";
import type { Target } from "../../target/target.ts";

/** Checks that a run would skip for the same reason. */
export interface SkipGroup {
  /** What would enable them, such as a line of the target file. */
  readonly enabledBy: string;
  readonly checks: readonly string[];
  /** Those of them that need something else as well. */
  readonly needingMore: readonly string[];
}

interface SkipConditions {
  readonly target: Target;
  /** Probes for which too little waiting is left. */
  readonly short: ReadonlySet<PlannedProbe>;
  readonly readOnly: boolean;
  readonly messages: Messages;
}

/** Ids of the checks that rest on each probe. */
export function checksByProbe(suites: readonly Suite[]): Map<Probe, string[]> {
  const found = new Map<Probe, string[]>();
  const note = (check: Check, probe: Probe): void => {
    const known = found.get(probe);
    if (known === undefined) found.set(probe, [check.id]);
    else known.push(check.id);
  };
  for (const { checks } of suites)
    for (const check of checks) for (const probe of Object.values(probesOf(check.on))) note(check, probe);
  return found;
}

/** What would be skipped, by all that would enable it; the largest group first. */
export function skipsOf(
  planned: readonly PlannedProbe[],
  checks: ReadonlyMap<Probe, readonly string[]>,
  circumstances: SkipConditions,
): { readonly isSkipped: (planned: PlannedProbe) => boolean; readonly skipped: readonly SkipGroup[] } {
  const lacks = new Map(planned.map((each) => [each, lacksOf(each, circumstances).map(circumstances.messages.needs)]));
  const untested = [...checks.keys()].filter((probe) => !planned.some((each) => each.probe === probe));
  const pairs = [
    ...[...lacks].flatMap(([{ probe }, all]) => all.map((lack) => ({ probe, lack }))),
    ...untested.flatMap((probe) =>
      lacksOfUntested(probe, circumstances).map((lack) => ({ probe, lack: circumstances.messages.needs(lack) })),
    ),
  ];
  const byLack = new Map<string, Set<string>>();
  for (const { probe, lack } of pairs)
    byLack.set(lack, (byLack.get(lack) ?? new Set()).union(new Set(checks.get(probe))));
  const countOf = (id: string): number => byLack.values().reduce((sum, ids) => sum + (ids.has(id) ? 1 : 0), 0);
  const skipped = [...byLack]
    .map(([enabledBy, ids]) => ({
      enabledBy,
      checks: [...ids],
      needingMore: [...ids].filter((id) => countOf(id) > 1),
    }))
    .toSorted((a, b) => b.checks.length - a.checks.length);
  return { isSkipped: (each) => (lacks.get(each) ?? []).length > 0, skipped };
}

/** Everything that a planned probe lacks. */
function lacksOf(planned: PlannedProbe, { target, short, readOnly }: SkipConditions): Enabler[] {
  const { probe } = planned;
  const missing = probe.needs.filter((each) => resolveNeeds([each], target).kind === "missing");
  return [
    ...(readOnly && !probe.isReadOnly ? [need("readOnly")] : []),
    ...missing.map(need),
    ...(short.has(planned) ? [moreTime] : []),
  ];
}

/** What a probe lacks that runs once a tier, where the tier of no key is known. */
function lacksOfUntested(probe: Probe, { target, readOnly }: SkipConditions): Enabler[] {
  if (readOnly && !probe.isReadOnly) return [need("readOnly")];
  return probe.per === "tier" && tiersUnderTest(target).length === 0 ? [tierOfKey] : [];
}
