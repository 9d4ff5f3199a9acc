import type { Target, TargetKey } from "../../target/target.ts";
import { type RunBounds, defaultBounds } from "./bounds.ts";
import { getOrAdd } from "../../base/memoize.ts";
import { clauseOf } from "../../spec/clauses.ts";
import { isOffered } from "../../spec/profiles.ts";
import { type SkipReason, fastSkip, need, readOnlySkip } from "../skip-reason.ts";
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
import { executionsOf, type Probe, requestsOf, type Stage } from "../probe.ts";
import type { ProbeResult } from "../../evidence/evidence.ts";

/** A probe of the plan. A probe that tests tiers occurs once for each tier. */
export interface PlannedProbe {
  readonly probe: Probe;
  readonly tested: TierUnderTest | null;
  /** Whether a check judges the probe's evidence. `false` if all checks of the probe only observe gaps. */
  readonly isJudged: boolean;
  readonly musts: readonly Check[];
  readonly requests: number;
  readonly executions: number;
  readonly keys: readonly string[];
  readonly usesMainKey: boolean;
  readonly skip: SkipReason | null;
}

export function planProbes(
  suites: readonly Suite[],
  target: Target,
  { readOnly, maxWindow, fast }: Pick<RunBounds, "readOnly" | "maxWindow" | "fast"> = defaultBounds,
): PlannedProbe[] {
  const tiers = tiersUnderTest(target);
  const main = mainKey(target);
  // Without a test clock, probes that create webhooks go first. Webhook retries can then arrive while other probes run.
  const byWebhooks = (one: NeededProbe, other: NeededProbe): number =>
    target.clock === null ? Number(createsWebhooks(other.probe)) - Number(createsWebhooks(one.probe)) : 0;
  const needed = probesNeeded(suites.flatMap(({ checks }) => checks)).toSorted(byWebhooks);
  return needed.flatMap(({ probe, isJudged, musts }): PlannedProbe[] => {
    const skipAll = readOnly && !probe.isReadOnly ? readOnlySkip : missingNeed(probe.needs, target);
    return (probe.per === "target" ? [null] : tiers).map((tested) => {
      const keys = keyNamesOf(probe, tested, target);
      const isLeftOut = fast && isSlow(probe, isJudged);
      return {
        probe,
        tested,
        isJudged,
        musts,
        requests: requestsOf(probe, tested, target),
        executions: executionsOf(probe, tested, target),
        keys,
        usesMainKey: main !== null && keys.includes(nameOf(main, target)),
        skip: isLeftOut
          ? fastSkip
          : (skipAll ?? limitsNotOffered(probe, target) ?? tooLargeWindow(probe, tested, maxWindow)),
      };
    });
  });
}

type NeededProbe = Pick<PlannedProbe, "probe" | "isJudged" | "musts">;

/**
 * Returns the probes that checks need. First come probes whose evidence a check judges (`on`, `also`), then probes that
 * give a check more messages to judge (`companions`). Coverage probes of a `matrix` come last. Preparing probes (`after`)
 * stand before the probe that they prepare.
 */
function probesNeeded(checks: readonly Check[]): NeededProbe[] {
  const isJudgedByProbe = new Map<Probe, boolean>();
  const mustsByProbe = new Map<Probe, Check[]>();
  for (const check of checks)
    for (const probe of [...Object.values(probesOf(check.on)), ...check.also]) {
      for (const each of withPreparation(probe))
        isJudgedByProbe.set(each, isJudgedByProbe.get(each) === true || hasVerdict(check));
      if (clauseOf(check.clause).level === "must") getOrAdd(mustsByProbe, probe, () => []).push(check);
    }
  for (const check of checks)
    for (const probe of (check.companions ?? []).flatMap(withPreparation))
      if (!isJudgedByProbe.has(probe)) isJudgedByProbe.set(probe, hasVerdict(check));
  for (const { matrix } of checks) if (matrix?.coverageProbe) isJudgedByProbe.set(matrix.coverageProbe, true);
  return [...isJudgedByProbe].map(([probe, isJudged]) => ({ probe, isJudged, musts: mustsByProbe.get(probe) ?? [] }));
}

/** Whether a check judges. Checks of gaps only observe. */
const hasVerdict = ({ clause }: Check): boolean => clauseOf(clause).level !== "gap";

const withPreparation = (probe: Probe): Probe[] => [...(probe.after ?? []).flatMap(withPreparation), probe];

function keyNamesOf(probe: Probe, tested: TierUnderTest | null, target: Target): string[] {
  const own = probe.per === "target" ? (probe.keys?.(target) ?? []) : [];
  const main = probe.per === "target" && own.length === 0 ? [mainKey(target)] : [];
  const needed = probe.needs.filter(isKeyNeed).map((each) => resolveKey(each, target));
  const keys = [...own, ...main, tested?.key, tested?.siblingKey, ...needed];
  return [...new Set(keys.flatMap((key) => (key === undefined || key === null ? [] : [nameOf(key, target)])))];
}

const nameOf = ({ key, name }: TargetKey, { keys }: Target): string =>
  Object.values(keys).find((each) => each.key === key)?.name ?? name;

export const createsWebhooks = ({ creates }: Probe): boolean => (creates.webhooks ?? 0) > 0;

function missingNeed(needs: readonly Need[], target: Target): SkipReason | null {
  const resolved = resolveNeeds(needs, target);
  if (resolved.kind === "given") return null;
  return { reason: `the target has no \`${resolved.need}\``, needs: need(resolved.need) };
}

const limitsNotOffered = ({ per }: Probe, { offers }: Target): SkipReason | null =>
  per === "target" || isOffered("limits", offers)
    ? null
    : { reason: "not offered: `offers` of the target file leaves out limits", needs: null };

const slowStages: readonly Stage[] = ["concurrency", "limits", "coverage", "next month"];
const slowRoles: readonly Need[] = ["agents.slow", "agents.slowStreaming", "agents.timingOut"];

const isSlow = (probe: Probe, isJudged: boolean): boolean =>
  probe.stage !== "review" &&
  (!isJudged ||
    probe.per === "tier" ||
    slowStages.includes(probe.stage) ||
    probe.needs.some((each) => slowRoles.includes(each)) ||
    probe.waits !== undefined ||
    probe.isJudgedLater === true);

function tooLargeWindow(probe: Probe, tested: TierUnderTest | null, maxWindow: number): SkipReason | null {
  const requests = probe.per === "tier" && tested !== null ? (probe.window?.(tested) ?? 0) : 0;
  return requests <= maxWindow ? null : { reason: { why: "large window", requests }, needs: need("maxWindow") };
}

/** A `ProbeResult` with a structured skip reason. Saved evidence contains the reason as text. */
export type ProbeRunResult = Exclude<ProbeResult, { kind: "skipped" }> | ({ readonly kind: "skipped" } & SkipReason);

export interface ProbeRun {
  readonly planned: PlannedProbe;
  readonly result: ProbeRunResult;
}
