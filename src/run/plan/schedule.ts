import { type Check, probesOf } from "../judge/check.ts";
import { createsWebhooks, type PlannedProbe } from "./plan.ts";
import type { Stage, Probe } from "../probe.ts";
import type { StageContext } from "../run-probe.ts";

/** Probes that run in one step. The next step begins once all of them have ended. */
interface ScheduleStep {
  readonly probes: readonly PlannedProbe[];
  /**
   * The order in which the probes of the step run:
   * - `pool`: concurrently, up to the maximum number of concurrent probes.
   * - `by key`: concurrently if they use different keys.
   * - `by agent clock`: `one by one` if agents follow the test clock, else `by key`.
   * - `shared clock`: `by key`, and the test clock advances whenever all running probes wait.
   */
  readonly mode: "pool" | "by key" | "one by one" | "by agent clock" | "shared clock";
  /** The probes of the step that may not use all of `maxWaitMs`: the stage `limits` needs a part of it. */
  readonly reserving: "all" | "all but limits" | "none";
}

interface ScheduleConditions extends Pick<StageContext, "hasFewRequests" | "hasWebhookAgent"> {
  /** Whether the target has a test clock, which the run can advance. */
  readonly canAdvance: boolean;
}

export function buildSchedule(
  planned: readonly PlannedProbe[],
  { canAdvance, hasFewRequests, hasWebhookAgent }: ScheduleConditions,
): ScheduleStep[] {
  const ofStages = (...chosen: readonly Stage[]): PlannedProbes =>
    judgedFirst(planned.filter(({ probe }) => chosen.includes(probe.stage)));
  const [shared, limits] = [ofStages("shared"), ofStages("limits")];
  const middle = ofStages("agent time", "exclusive", "concurrency");
  const first = { probes: shared, mode: "pool", reserving: "all" } as const;
  const opening = planned.some(({ probe }) => probe.stage === "opening")
    ? [{ ...oneByOne(ofStages("opening")), reserving: "all" as const }]
    : [];
  const last = [oneByOne(ofStages("coverage")), oneByOne(ofStages("next month")), oneByOne(ofStages("review"))];
  if (canAdvance)
    return [
      ...opening,
      ...splitByJudged(first),
      { probes: ofStages("agent time"), mode: "pool", reserving: "all" },
      ...concurrencyBeforeWebhooks(ofStages("exclusive"), ofStages("concurrency")),
      ...withSharedClock(limits),
      ...last,
    ];
  if (hasFewRequests) return [...opening, ...stepsForFewRequests(shared, middle, limits), ...last];
  const steps = [...opening, ...splitByJudged(first)];
  if (hasWebhookAgent) steps.push({ ...byKey(orderForRealClock(middle, limits)), reserving: "all but limits" });
  else steps.push({ ...byKey(orderForRealClock(middle, [])), reserving: "all" }, byKey(orderForRealClock([], limits)));
  return [...steps, ...last];
}

type PlannedProbes = readonly PlannedProbe[];

/**
 * Puts the stage `concurrency` before the first `exclusive` probe that creates a webhook. Otherwise, the webhook
 * would also get deliveries about the invokes of the stage `concurrency`.
 */
function concurrencyBeforeWebhooks(exclusive: PlannedProbes, concurrency: PlannedProbes): ScheduleStep[] {
  const at = exclusive.findIndex(({ probe, skip }) => skip === null && createsWebhooks(probe));
  const first = at === -1 ? exclusive : exclusive.slice(0, at);
  const isTested = ({ tested }: PlannedProbe): boolean => tested !== null;
  const inOrder = [...concurrency.filter(isTested), ...concurrency.filter((each) => !isTested(each))];
  return [
    { ...oneByOne(first), reserving: "all" },
    { probes: inOrder, mode: "by agent clock", reserving: "all" },
    { ...oneByOne(exclusive.slice(first.length)), reserving: "all" },
  ];
}

function withSharedClock(limits: PlannedProbes): ScheduleStep[] {
  const isConcurrent = ({ probe }: PlannedProbe): boolean => probe.per === "tier" && probe.concurrent === true;
  const at = limits.findIndex(isConcurrent);
  if (at === -1) return [oneByOne(limits)];
  return [
    oneByOne(limits.slice(0, at)),
    { probes: limits.filter(isConcurrent), mode: "shared clock", reserving: "none" },
    oneByOne(limits.slice(at).filter((each) => !isConcurrent(each))),
  ];
}

const oneByOne = (probes: PlannedProbes): ScheduleStep => ({ probes, mode: "one by one", reserving: "none" });
const byKey = (probes: PlannedProbes): ScheduleStep => ({ probes, mode: "by key", reserving: "none" });

const judgedFirst = (probes: PlannedProbes): PlannedProbes =>
  probes.toSorted((one, other) => Number(other.isJudged) - Number(one.isJudged));

const splitByJudged = (step: ScheduleStep): ScheduleStep[] =>
  [true, false].map((isJudged) => ({ ...step, probes: step.probes.filter((each) => each.isJudged === isJudged) }));

/**
 * Orders the probes for a main key with a low limit: tests of tier limits early, most other probes by value per
 * request, and the remaining limit tests of the main key last.
 */
function stepsForFewRequests(shared: PlannedProbes, middle: PlannedProbes, limits: PlannedProbes): ScheduleStep[] {
  const isTested = ({ tested }: PlannedProbe): boolean => tested !== null;
  const countsEarly = ({ probe, skip }: PlannedProbe): boolean =>
    skip === null && probe.per === "target" && probe.countsTowardWindow === true;
  const limitsOfOtherKeys = limits.filter((each) => !isTested(each) && !each.usesMainKey);
  // A probe of the main key can also use a key that `limitsOfOtherKeys` use up. Such a probe must run before them.
  const sharesOtherKey = ({ keys, skip, usesMainKey }: PlannedProbe): boolean =>
    skip === null && usesMainKey && limitsOfOtherKeys.some((each) => each.keys.some((key) => keys.includes(key)));
  const early = [...shared.filter(countsEarly), ...middle.filter(sharesOtherKey)];
  const withWebhooks = middle.filter(({ probe, skip }) => skip === null && createsWebhooks(probe));
  const rest = [...shared, ...middle].filter((each) => !early.includes(each) && !withWebhooks.includes(each));
  return [
    byKey(early),
    byKey(limits.filter(isTested)),
    byKey([...limitsOfOtherKeys, ...withWebhooks, ...orderByValuePerRequest(rest)]),
    oneByOne(limits.filter((each) => !isTested(each) && !limitsOfOtherKeys.includes(each))),
  ];
}

/** Sorts probes by value per request, highest first. A probe is valuable if many `must` checks need its evidence. */
function orderByValuePerRequest(probes: PlannedProbes): PlannedProbe[] {
  const left = new Set(probes);
  const isLeft = (probe: Probe): boolean => left.values().some((each) => each.probe === probe);
  const skipped = new Set(probes.flatMap(({ probe, skip }) => (skip === null ? [] : [probe])));
  const valueOf = (check: Check): number => {
    const needed = Object.values(probesOf(check.on));
    return needed.some((probe) => skipped.has(probe)) ? 0 : 1 / Math.max(1, needed.filter(isLeft).length);
  };
  const densityOf = ({ musts, requests }: PlannedProbe): number =>
    (musts.reduce((sum, check) => sum + valueOf(check), 0) + minProbeValue) / Math.max(requests, minProbeValue);
  return probes.map(() => {
    const best = [...left]
      .map((each) => ({ each, density: densityOf(each) }))
      .reduce((one, other) => (other.density > one.density ? other : one)).each;
    left.delete(best);
    return best;
  });
}

/**
 * Added to the value of every probe, so that of two probes of value 0, the one with fewer requests comes first. Also
 * the minimum of the divisor, which would be 0 for a probe without requests.
 */
const minProbeValue = 0.01;

function orderForRealClock(middle: PlannedProbes, limits: PlannedProbes): PlannedProbes {
  const ofTiers = [...middle, ...limits].filter(({ tested, usesMainKey }) => tested !== null && !usesMainKey);
  const tierKeys = new Set(ofTiers.flatMap(({ keys }) => keys));
  const usesTierKey = ({ tested, keys }: PlannedProbe): boolean =>
    tested === null && keys.some((key) => tierKeys.has(key));
  const rest = [...middle, ...limits.filter(({ tested }) => tested === null), ...limits].filter(
    (each) => !ofTiers.includes(each),
  );
  const onTierKeys = middle.filter(usesTierKey);
  return [...new Set([...onTierKeys, ...orderByTier(ofTiers), ...rest])];
}

/**
 * Puts the `limits` probes of each tier last. If the tier's other probes use over half of its limit per minute, puts
 * the `limits` probes first, because they may need more than the rest.
 */
function orderByTier(probes: PlannedProbes): PlannedProbe[] {
  return [...Map.groupBy(probes, ({ tested }) => tested?.tier).values()].flatMap((ofTier) => {
    const limits = ofTier.filter(({ probe }) => probe.stage === "limits");
    const others = ofTier.filter(({ probe }) => probe.stage !== "limits");
    const used = others.reduce((sum, { requests, skip }) => sum + (skip === null ? requests : 0), 0);
    const leavesTooLittle = used > (ofTier[0]?.tested?.limits.perMinute ?? 0) / 2;
    return leavesTooLittle ? [...limits, ...others] : [...others, ...limits];
  });
}
