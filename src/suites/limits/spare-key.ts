import { mainKey, tiersUnderTest } from "../../run/plan/needs.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import type { Target, TargetKey } from "../../target/target.ts";

/**
 * A key of a small tier that is not the main key. Probes may use up its limit per minute without delaying the rest of
 * the run.
 */
export interface SpareKey {
  readonly key: TargetKey;
  readonly limits: TierLimits;
  /**
   * Another key of the tier, whose requests must not count for the spare key. `null` if the tier has no key besides the
   * spare key and the main key.
   */
  readonly partner: TargetKey | null;
}

/** Maximum limit per minute of a spare key. Using up a larger limit would take too many requests. */
const maxPerMinute = 20;

/**
 * Returns a spare key from the tier with the smallest limit per minute. `null` if the target has none, or has a test
 * clock: the probes of each tier then test every limit.
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

/**
 * Returns the keys that a probe of the spare key uses: the spare key and its partner. Empty if there is no spare key.
 */
export function spareKeys(target: Target): readonly TargetKey[] {
  const spare = spareKeyOf(target);
  return spare === null ? [] : [spare.key, ...(spare.partner === null ? [] : [spare.partner])];
}
