import { type Check, probesOf } from "../judge/check.ts";
import { createsWebhooks, type PlannedProbe } from "./plan.ts";
import type { Stage, Probe } from "../probe.ts";

/** Probes that are under way together, before others begin. */
export interface ScheduleStep {
  readonly probes: readonly PlannedProbe[];
  /**
   * - `pool`: so many at once as there are workers.
   * - `by key`: those side by side that share no key, each after all before it that share one with it.
   * - `one by one`: in their order.
   * - `as agents live`: one by one where agents live by the clock that is moved; by key where they live in real time.
   * - `abreast`: by key on a clock that is moved for all, which goes on while all of them wait.
   */
  readonly how: "pool" | "by key" | "one by one" | "as agents live" | "abreast";
  /** Whether waiting is kept for the limits meanwhile. */
  readonly isReserving: boolean | "but for the limits";
}

export interface ScheduleConditions {
  /** Whether the target's clock can be moved. */
  readonly canMove: boolean;
  /** Whether the main key has so few requests a minute that a run has to choose among them. */
  readonly isShort: boolean;
  /** Whether an agent that nothing else calls plays for webhooks: else what uses up a limit would flood them. */
  readonly isQuiet: boolean;
}

/**
 * The waves of a run. Where the target's clock is moved, lane after lane: its windows pass at once, and for all keys together. On a real
 * clock the windows of different keys pass side by side, so what waits for one key's runs beside what waits for another's.
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
 * Slots are held before the first webhook is made: that takes many agents that fail, and a webhook, which nothing deletes, would be told of each.
 * Where a client leaves its streams, their slots may be held for some seconds more, so that comes after all that count slots.
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

/** What takes the longest where each answer takes its time is done for all keys at once. */
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

/** Where one clock moves for all, order is all that there is. */
const oneByOne = (probes: Probes): ScheduleStep => ({ probes, how: "one by one", isReserving: false });
const byKey = (probes: Probes): ScheduleStep => ({ probes, how: "by key", isReserving: false });

const judgedFirst = (probes: Probes): Probes =>
  probes.toSorted((one, other) => Number(other.isJudged) - Number(one.isJudged));

/** What only serves observations must not take the time of what is judged. */
const splitByJudged = (wave: ScheduleStep): ScheduleStep[] =>
  [true, false].map((isJudged) => ({ ...wave, probes: wave.probes.filter((each) => each.isJudged === isJudged) }));

/**
 * What fills comes before all: it uses up a part of the minute that the limits use up next, and that would else be spent on nothing. Webhooks are made
 * right after the limits, since the time of their retries passes while the rest waits for a window; then what shows most by the request, whatever its lane.
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
 * What brings the most checks of must clauses to a verdict by the request comes first, again and again; what costs no request before all. A check that rests
 * on several probes is worth a part to each.
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

/** Of two that show nothing new, the one with fewer requests comes first. */
const leastWorth = 0.01;

/**
 * First what is short and draws on keys whose limits are tested, then those keys, while the main key serves the rest. Its own limits come last: they take what
 * is left of its minute.
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

/** Of each tier the limits first where its other probes would leave too little of a minute for them. */
function byTier(probes: Probes): PlannedProbe[] {
  return [...Map.groupBy(probes, ({ tested }) => tested?.tier).values()].flatMap((ofTier) => {
    const limits = ofTier.filter(({ probe }) => probe.lane === "limits");
    const others = ofTier.filter(({ probe }) => probe.lane !== "limits");
    const used = others.reduce((sum, { requests, skip }) => sum + (skip === null ? requests : 0), 0);
    const isTight = used > (ofTier[0]?.tested?.limits.perMinute ?? 0) / 2;
    return isTight ? [...limits, ...others] : [...others, ...limits];
  });
}

/** Runs those side by side that share no key, each after all before it that share one with it. */
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
