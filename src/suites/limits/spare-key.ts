import { mainKey, tiersUnderTest } from "../../run/plan/needs.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { Target, TargetKey } from "../../target/target.ts";

/** A key other than the main key. Tests of limits may use up its minutes. */
export interface SpareKey {
  readonly key: TargetKey;
  readonly limits: TierLimits;
  /**
   * Another key, whose requests must not count against the spare key. `null` if requests on the main key test that
   * already.
   */
  readonly partner: TargetKey | null;
}

/** Largest minute to use up on a spare key. A larger one would cost the rest of the run too many requests. */
const maxPerMinute = 20;

/**
 * Returns a spare key of the smallest tier, if the target has one and runs on a real clock. With a test clock, the
 * probes of each tier have time for everything.
 */
export function spareKeyOf(target: Target): SpareKey | null {
  const main = mainKey(target);
  if (target.clock !== null || main === null) return null;
  const [smallest] = tiersUnderTest(target).toSorted((a, b) => a.limits.perMinute - b.limits.perMinute);
  if (smallest === undefined || smallest.limits.perMinute > maxPerMinute) return null;
  const { key: tested, siblingKey, limits } = smallest;
  const key = [siblingKey, tested].find((each) => each !== null && each.key !== main.key) ?? null;
  if (key === null) return null;
  const partner = tested.key === main.key || tested.key === key.key ? null : tested;
  return { key, limits, partner };
}

/** The keys of a probe that uses the spare key. Empty if there is none. */
export function spareKeys(target: Target): readonly TargetKey[] {
  const spare = spareKeyOf(target);
  return spare === null ? [] : [spare.key, ...(spare.partner === null ? [] : [spare.partner])];
}
