import { type Check, probesOf } from "../judge/check.ts";
import { createsWebhooks, type PlannedProbe } from "./plan.ts";
import type { Stage, Probe } from "../probe.ts";

/** Probes that run together, before the next step begins. */
export interface ScheduleStep {
  readonly probes: readonly PlannedProbe[];
  /**
   * - `pool`: concurrently, up to the number of workers.
   * - `by key`: concurrently if they share no key, else in their order.
   * - `one by one`: in their order.
   * - `by agent clock`: one by one if agents follow the test clock, `by key` if they use real time.
   * - `shared clock`: `by key`, on a test clock that advances while all of them wait.
   */
  readonly how: "pool" | "by key" | "one by one" | "as agents live" | "abreast";
  /** Whether the step must leave waiting time for the limits. */
  readonly isReserving: boolean | "but for the limits";
}

export interface ScheduleConditions {
  /** Whether the target has a test clock. */
  readonly canMove: boolean;
  /** Whether the main key has too few requests a minute for all probes. */
  readonly isShort: boolean;
  /** Whether webhooks have an agent that nothing else calls. Otherwise, using up limits would flood the webhooks. */
  readonly isQuiet: boolean;
}

/**
 * Orders the probes of a run into steps. With a test clock, one stage follows the other: windows pass at once, for
 * all keys. On a real clock, windows of different keys pass at the same time, so probes that wait for different keys
 * run concurrently.
 */
export function buildSchedule(
  planned: readonly PlannedProbe[],
  { canMove, isShort, isQuiet }: ScheduleConditions,
): ScheduleStep[] {
  const ofLanes = (...lanes: readonly Stage[]): Probes =>
    judgedFirst(planned.filter(({ probe }) => lanes.includes(probe.lane)));
  const [shared, limits] = [ofLanes("shared"), ofLanes("limits")];
  const alone = ofLanes("timed", "alone", "slots");
  const first = { probes: shared, how: "pool", isReserving: true } as const;
  const last = [oneByOne(ofLanes("visits")), oneByOne(ofLanes("afterwards"))];
  if (canMove)
    return [
      ...splitByJudged(first),
      { probes: ofLanes("timed"), how: "pool", isReserving: true },
      ...aroundSlots(ofLanes("alone"), ofLanes("slots")),
      ...hoursAbreast(limits),
      ...last,
    ];
  if (isShort) return [...onSmallKey(shared, alone, limits), ...last];
  const waves = [...splitByJudged(first)];
  if (isQuiet) waves.push({ ...byKey(together(alone, limits)), isReserving: "but for the limits" });
  else waves.push({ ...byKey(together(alone, [])), isReserving: true }, byKey(together([], limits)));
  return [...waves, ...last];
}

type Probes = readonly PlannedProbe[];

/**
 * Puts the concurrency stage before the first probe that creates a webhook: it causes many failing agent runs, and
 * each would be sent to that webhook. Probes that abandon streams run after those that count slots, since their slots
 * may stay taken for some seconds.
 */
function aroundSlots(alone: Probes, slots: Probes): ScheduleStep[] {
  const at = alone.findIndex(({ probe, skip }) => skip === null && createsWebhooks(probe));
  const first = at === -1 ? alone : alone.slice(0, at);
  const isTested = ({ tested }: PlannedProbe): boolean => tested !== null;
  const inTurn = [...slots.filter(isTested), ...slots.filter((each) => !isTested(each))];
  return [
    { ...oneByOne(first), isReserving: true },
    { probes: inTurn, how: "as agents live", isReserving: true },
    { ...oneByOne(alone.slice(first.length)), isReserving: true },
  ];
}

/** Runs the longest tier probes for all keys at once, on a shared clock. */
function hoursAbreast(limits: Probes): ScheduleStep[] {
  const isAbreast = ({ probe }: PlannedProbe): boolean => probe.per === "tier" && probe.isAbreast;
  const at = limits.findIndex(isAbreast);
  if (at === -1) return [oneByOne(limits)];
  return [
    oneByOne(limits.slice(0, at)),
    { probes: limits.filter(isAbreast), how: "abreast", isReserving: false },
    oneByOne(limits.slice(at).filter((each) => !isAbreast(each))),
  ];
}

const oneByOne = (probes: Probes): ScheduleStep => ({ probes, how: "one by one", isReserving: false });
const byKey = (probes: Probes): ScheduleStep => ({ probes, how: "by key", isReserving: false });

const judgedFirst = (probes: Probes): Probes =>
  probes.toSorted((one, other) => Number(other.isJudged) - Number(one.isJudged));

/** Splits a step, so that probes that serve only observations run last. */
const splitByJudged = (wave: ScheduleStep): ScheduleStep[] =>
  [true, false].map((isJudged) => ({ ...wave, probes: wave.probes.filter((each) => each.isJudged === isJudged) }));

/**
 * The order for a key of few requests. First come reads that count toward the window that the limits then use up.
 * Probes that create webhooks follow the limits, since their retries arrive while the rest waits for a window. The
 * rest is sorted by what it shows per request.
 */
function onSmallKey(shared: Probes, alone: Probes, limits: Probes): ScheduleStep[] {
  const isTested = ({ tested }: PlannedProbe): boolean => tested !== null;
  const early = shared.filter(({ probe, skip }) => skip === null && probe.per === "target" && probe.fills);
  const hooked = alone.filter(({ probe, skip }) => skip === null && createsWebhooks(probe));
  const rest = [...shared, ...alone].filter((each) => !early.includes(each) && !hooked.includes(each));
  return [
    byKey(early),
    byKey(limits.filter(isTested)),
    byKey([...hooked, ...mostShownFirst(rest)]),
    oneByOne(limits.filter((each) => !isTested(each))),
  ];
}

/**
 * Sorts probes by the number of must checks that they complete per request, highest first. Probes without requests
 * lead. A check that needs several probes counts as a fraction for each.
 */
function mostShownFirst(probes: Probes): PlannedProbe[] {
  const left = new Set(probes);
  const ahead = (probe: Probe): boolean => left.values().some((each) => each.probe === probe);
  const lost = new Set(probes.flatMap(({ probe, skip }) => (skip === null ? [] : [probe])));
  const worthOf = (check: Check): number => {
    const rests = Object.values(probesOf(check.on));
    return rests.some((probe) => lost.has(probe)) ? 0 : 1 / Math.max(1, rests.filter(ahead).length);
  };
  const densityOf = ({ musts, requests }: PlannedProbe): number =>
    (musts.reduce((sum, check) => sum + worthOf(check), 0) + leastWorth) / Math.max(requests, leastWorth);
  return probes.map(() => {
    const best = [...left]
      .map((each) => ({ each, density: densityOf(each) }))
      .reduce((one, other) => (other.density > one.density ? other : one)).each;
    left.delete(best);
    return best;
  });
}

/** Added to each value, so that probes with fewer requests lead among those that complete no check. */
const leastWorth = 0.01;

/**
 * The order on a real clock. First short probes on keys whose limits are tested, then those keys' own probes, while
 * the main key serves the rest. The main key's limits come last, because they use up its minute.
 */
function together(alone: Probes, limits: Probes): Probes {
  const ofTiers = [...alone, ...limits].filter(({ tested, isOfMain }) => tested !== null && !isOfMain);
  const tierKeys = new Set(ofTiers.flatMap(({ keys }) => keys));
  const isElsewhere = ({ tested, keys }: PlannedProbe): boolean =>
    tested === null && keys.some((key) => tierKeys.has(key));
  const rest = [...alone, ...limits.filter(({ tested }) => tested === null), ...limits].filter(
    (each) => !ofTiers.includes(each),
  );
  const elsewhere = alone.filter(isElsewhere);
  return [...new Set([...elsewhere, ...byTier(ofTiers), ...rest])];
}

/** Orders each tier's probes. The limits lead if the other probes would use more than half of a minute. */
function byTier(probes: Probes): PlannedProbe[] {
  return [...Map.groupBy(probes, ({ tested }) => tested?.tier).values()].flatMap((ofTier) => {
    const limits = ofTier.filter(({ probe }) => probe.lane === "limits");
    const others = ofTier.filter(({ probe }) => probe.lane !== "limits");
    const used = others.reduce((sum, { requests, skip }) => sum + (skip === null ? requests : 0), 0);
    const isTight = used > (ofTier[0]?.tested?.limits.perMinute ?? 0) / 2;
    return isTight ? [...limits, ...others] : [...others, ...limits];
  });
}

/** Runs probes concurrently if they share no key. Each waits for all probes before it that share one. */
export async function runByKey(probes: Probes, run: (each: PlannedProbe) => Promise<void>): Promise<void> {
  const pending = new Set(probes);
  const busy = new Set<string>();
  const running = new Set<Promise<void>>();
  const startAll = (): void => {
    const taken = new Set(busy);
    for (const each of pending) {
      const isFree = each.keys.every((key) => !taken.has(key));
      for (const key of each.keys) taken.add(key);
      if (isFree) start(each);
    }
  };
  const start = (each: PlannedProbe): void => {
    pending.delete(each);
    for (const key of each.keys) busy.add(key);
    const ended = run(each).finally(() => {
      for (const key of each.keys) busy.delete(key);
      running.delete(ended);
    });
    running.add(ended);
  };
  for (startAll(); running.size > 0; startAll()) await Promise.race(running);
}
