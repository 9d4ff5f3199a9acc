import type { Target, TargetKey } from "../../target/target.ts";
import { type RunBounds, defaultBounds } from "./bounds.ts";
import { clauseOf } from "../../spec/clauses.ts";
import { type SkipReason, need, readOnlyRun } from "../skip-reason.ts";
import { type Check, probesOf, type Suite } from "../judge/check.ts";
import {
  isKeyNeed,
  resolveKey,
  mainKey,
  type Need,
  resolveNeeds,
  tiersUnderTest,
  type TierUnderTest,
} from "./needs.ts";
import { type Probe, requestsOf } from "../probe.ts";

/** A probe to run, for one instance. */
export interface PlannedProbe {
  readonly probe: Probe;
  /** The tier under test. `null` for a probe that runs once. */
  readonly tested: TierUnderTest | null;
  /** Whether a check judges the evidence. Probes that serve only observations run later. */
  readonly isJudged: boolean;
  /** Checks of must clauses that use the evidence. */
  readonly musts: readonly Check[];
  readonly requests: number;
  /** Names of the keys that the probe sends with. */
  readonly keys: readonly string[];
  /** Whether the main key is one of `keys`. */
  readonly isOfMain: boolean;
  readonly skip: SkipReason | null;
}

/** Lists every probe that the selected checks need, in the order of the suites, once for each instance. */
export function planProbes(
  suites: readonly Suite[],
  target: Target,
  { readOnly, maxWindow }: Pick<RunBounds, "readOnly" | "maxWindow"> = defaultBounds,
): PlannedProbe[] {
  const judged = new Map<Probe, boolean>();
  const musts = new Map<Probe, Check[]>();
  for (const { checks } of suites)
    for (const check of checks)
      for (const probe of [...Object.values(probesOf(check.on)), ...check.also]) {
        const { level } = clauseOf(check.clause);
        judged.set(probe, (judged.get(probe) ?? false) || level !== "gap");
        if (level === "must") musts.set(probe, [...(musts.get(probe) ?? []), check]);
      }
  for (const { checks } of suites)
    for (const { matrix } of checks)
      if (matrix !== null && matrix.coverageProbe !== null) judged.set(matrix.coverageProbe, true);
  const tiers = tiersUnderTest(target);
  const main = mainKey(target);
  const inOrder = target.clock === null ? webhooksFirst([...judged]) : [...judged];
  return inOrder.flatMap(([probe, isJudged]): PlannedProbe[] => {
    const lacking = readOnly && !probe.isReadOnly ? readOnlyRun : missing(probe.needs, target);
    const own = musts.get(probe) ?? [];
    return (probe.per === "target" ? [null] : tiers).map((tested) => {
      const keys = keysOf(probe, tested, target);
      const isOfMain = main !== null && keys.includes(nameOf(main, target));
      const requests = requestsOf(probe, tested, target);
      const skip = lacking ?? tooLarge(probe, tested, maxWindow);
      return { probe, tested, isJudged, musts: own, requests, keys, isOfMain, skip };
    });
  });
}

/** Names of the keys that a probe sends with. One key under several names counts once. */
function keysOf(probe: Probe, tested: TierUnderTest | null, target: Target): string[] {
  const used = probe.per === "target" ? ownKeys(probe.keys, target) : [tested?.key, tested?.siblingKey];
  const needed = probe.needs.filter(isKeyNeed).map((each) => resolveKey(each, target));
  return [
    ...new Set([...used, ...needed].flatMap((key) => (key === undefined || key === null ? [] : [nameOf(key, target)]))),
  ];
}

const nameOf = ({ key, name }: TargetKey, { keys }: Target): string =>
  Object.values(keys).find((each) => each.key === key)?.name ?? name;

const ownKeys = (
  keys: ((target: Target) => readonly TargetKey[]) | null,
  target: Target,
): readonly (TargetKey | null)[] => {
  const own = keys?.(target) ?? [];
  return own.length > 0 ? own : [mainKey(target)];
};

/**
 * On a real clock, sorts probes that create webhooks to the front: their retries arrive while the other probes wait.
 */
const webhooksFirst = (judged: readonly (readonly [Probe, boolean])[]): (readonly [Probe, boolean])[] =>
  judged.toSorted(([one], [other]) => Number(createsWebhooks(other)) - Number(createsWebhooks(one)));

export const createsWebhooks = ({ creates }: Probe): boolean => (creates.webhooks ?? 0) > 0;

function missing(needs: readonly Need[], target: Target): PlannedProbe["skip"] {
  const resolved = resolveNeeds(needs, target);
  if (resolved.kind === "given") return null;
  return { reason: `the target has no \`${resolved.need}\``, needs: need(resolved.need) };
}

/** Skips a probe whose window is above `maxWindow`: using it up takes minutes, and its requests may cost money. */
function tooLarge(probe: Probe, tested: TierUnderTest | null, maxWindow: number): PlannedProbe["skip"] {
  const requests = probe.per === "tier" && tested !== null ? (probe.window?.(tested) ?? 0) : 0;
  return requests <= maxWindow ? null : { reason: { why: "large window", requests }, needs: need("maxWindow") };
}
