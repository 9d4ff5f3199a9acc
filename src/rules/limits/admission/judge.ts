import type { TierLimits } from "../../../spec/tiers.ts";
import { type BreachKind, describeActual, describeExpected, type LimitBreach, smallestWitness } from "./breach.ts";
import { compatibleModels, fitModels, type ModelFits } from "./fit-models.ts";
import type { AdmissionOptions, Decision, History } from "./history.ts";
import { type Bucket, burstBucket, hasRefusal, type LimiterShape, type LimitName } from "./models.ts";
import { createSlotTest, maxHeldSlots } from "./slots.ts";
import { fitBucket } from "./bucket.ts";
import { hourMs, minuteMs } from "../../../base/duration.ts";
import { countUpTo } from "../../../base/lists.ts";
import { type AdmissionTimeline, requestsBefore, type TimedRefusal, timelineOf } from "./timeline.ts";

interface RefusalReasons {
  readonly explained: ReadonlySet<Decision>;
  readonly unexplained: readonly Decision[];
}

/**
 * An explained refusal may itself have used up a limit, and so explain other refusals in the next round. After this
 * many rounds, the rest counts as explained, too: this saves time and causes no false alarm.
 */
const maxRounds = 12;

/**
 * Splits the refusals. Some legal limiter can have made each `explained` refusal, e.g. because it also counts refused
 * requests. No legal limiter can have made an `unexplained` refusal.
 */
function explainRefusals(history: History, limits: TierLimits, options: AdmissionOptions): RefusalReasons {
  const explained = new Set<Decision>();
  let pending = history.decisions.filter((decision) => decision.outcome === "refused");
  if (options.tokensMayBeExhausted === true) return { explained: new Set(pending), unexplained: [] };
  for (let round = 0; pending.length > 0; round += 1) {
    const hasReason = round < maxRounds ? createReasonTest(history, limits, options, pending, explained) : () => true;
    const reasoned = pending.filter(hasReason);
    if (reasoned.length === 0) break;
    pending = pending.filter((refusal, index) => !hasReason(refusal, index));
    for (const refusal of reasoned) explained.add(refusal);
  }
  return { explained, unexplained: pending };
}

type HasReason = (refusal: Decision, index: number) => boolean;

function createReasonTest(
  history: History,
  limits: TierLimits,
  options: AdmissionOptions,
  pending: readonly Decision[],
  explained: ReadonlySet<Decision>,
): HasReason {
  const timeline = timelineOf(history, options, pending, explained);
  const bySlots = createSlotTest(history, limits.concurrent, options, explained);
  const unexplainedByBurst = fitBucket(timeline, minimumBurstBucket(limits))?.unexplained;
  const tolerance = options.toleranceMs ?? 50;
  // On some servers, each refusal restarts the window. A request without a response was possibly refused, too.
  const pushers = [...explained, ...history.decisions.filter(({ outcome }) => outcome === "unknown")];
  const byHour = createFullWindowTest(timeline, hourMs, limits.perHour, chainsOf(pushers, hourMs, tolerance));
  const byMinute = createFullWindowTest(timeline, minuteMs, limits.perMinute, chainsOf(pushers, minuteMs, tolerance));
  const verdicts = timeline.refusals.map(
    (refusal, index) =>
      (unexplainedByBurst !== undefined && !hasRefusal(unexplainedByBurst, index)) ||
      (refusal.decision.reportedWaitMs === undefined && bySlots(refusal.decision)) ||
      byMinute(refusal) ||
      byHour(refusal),
  );
  return (_, index) => verdicts[index] ?? false;
}

/**
 * Returns the burst bucket with a minimum capacity, which `fitBucket` raises until all admitted requests fit. The
 * bucket stays as small as possible, because a larger one explains fewer refusals.
 */
function minimumBurstBucket(limits: TierLimits): Bucket {
  const bucket = burstBucket(limits);
  return { ...bucket, capacity: { kind: "minimum", requests: bucket.capacity.requests } };
}

function createFullWindowTest(timeline: AdmissionTimeline, windowMs: number, capacity: number, chains: RefusalChains) {
  return (refusal: TimedRefusal): boolean => {
    const opensMs = Math.min(refusal.fromMs - 2 * windowMs, chains.firstOf(refusal) - windowMs);
    if (opensMs <= timeline.unknownUseUntilMs) return true;
    return refusal.countedBefore - requestsBefore(timeline.counted.latest, opensMs) >= capacity;
  };
}

interface RefusalChains {
  /** Returns the start time of the chain of refusals that `refusal` continues; `Infinity` if it continues no chain. */
  readonly firstOf: (refusal: TimedRefusal) => number;
}

/**
 * Groups refusals into chains. Each refusal of a chain comes within one window length of the previous one. If refusals
 * restart the window, a chain can keep one window open.
 */
function chainsOf(refusals: readonly Decision[], windowMs: number, toleranceMs: number): RefusalChains {
  const spans = refusals.map(({ decided }) => decided).toSorted((left, right) => left.fromMs - right.fromMs);
  const firsts: number[] = [];
  const reaches: number[] = [];
  for (const span of spans) {
    const fromMs = span.fromMs - toleranceMs;
    const reachMs = span.toMs + toleranceMs + windowMs;
    const last = reaches.length - 1;
    if (last >= 0 && fromMs <= (reaches[last] ?? 0)) reaches[last] = Math.max(reaches[last] ?? 0, reachMs);
    else {
      firsts.push(fromMs);
      reaches.push(reachMs);
    }
  }
  const sorted = Float64Array.from(firsts);
  return {
    firstOf: ({ fromMs, toMs }) => {
      const chain = countUpTo(sorted, toMs) - 1;
      return (reaches[chain] ?? -Infinity) >= fromMs ? (firsts[chain] ?? Infinity) : Infinity;
    },
  };
}

/** Limiters that could have given all the responses to one key's requests. */
export interface LimiterReading {
  readonly countsRefusals: boolean;
  readonly hour: readonly LimiterShape[];
  readonly minute: readonly { readonly shape: LimiterShape; readonly burstAdds: boolean }[];
}

/** The verdict on the requests of one key: possible explanations of their responses, or a breach. */
export type HistoryJudgement =
  | { readonly kind: "explained"; readonly readings: readonly LimiterReading[] }
  | LimitBreach;

/**
 * A {@link HistoryJudgement} whose breach says only which limit is broken and how, without a description or witness.
 */
type HistoryVerdict = Exclude<HistoryJudgement, LimitBreach> | Pick<LimitBreach, "kind" | "breach" | "limit">;

/**
 * Judges the requests on one key by the rate limits that the document allows: see docs/judging-limits.md. A breach
 * means that no allowed limiter can have given all the responses.
 * @param everyReading whether to try limiters that count refused requests even if others explain all responses
 */
export function judgeAdmission(
  history: History,
  limits: TierLimits,
  options: AdmissionOptions = {},
  everyReading = false,
): HistoryJudgement {
  const verdict = verdictOfHistory(history, limits, options, everyReading);
  if (verdict.kind === "explained") return verdict;
  const witness = smallestWitness(history, (part) => verdictOfHistory(part, limits, options, false).kind === "breach");
  const proven = verdictOfHistory(witness.history, limits, options, false);
  const { breach, limit } = proven.kind === "breach" ? proven : verdict;
  return {
    kind: "breach",
    breach,
    limit,
    expected: describeExpected(breach, limit, limits),
    actual: describeActual(breach, limit, witness.known, history, options),
    witness: witness.known.flatMap(({ id, count }) => Array<string>(count).fill(id)),
  };
}

/**
 * Judges like {@link judgeAdmission}, with the same parameters. The verdict has no `expected`, `actual` or `witness`.
 */
export function verdictOfHistory(
  history: History,
  limits: TierLimits,
  options: AdmissionOptions,
  everyReading: boolean,
): HistoryVerdict {
  if (maxHeldSlots(history.decisions).count > limits.concurrent) return breachOf("too many admitted", "concurrency");
  const reasons = explainRefusals(history, limits, options);
  if (reasons.unexplained.length > 0) return breachOf("refused below limit", "any");
  const open = refusalsLeftBySlots(history, limits, options, reasons.explained);
  const fitCounting = (mayCount: ReadonlySet<Decision>) => fitModels(history, limits, options, open, mayCount);
  const strict = fitCounting(new Set());
  const readings = readingOf(false, strict);
  if (readings.length > 0 && !everyReading) return { kind: "explained", readings };
  const lenient = fitCounting(reasons.explained);
  readings.push(...readingOf(true, lenient));
  return readings.length > 0 ? { kind: "explained", readings } : attributeBreach([strict, lenient]);
}

const breachOf = (breach: BreachKind, limit: LimitBreach["limit"]): HistoryVerdict => ({
  kind: "breach",
  breach,
  limit,
});

function refusalsLeftBySlots(
  history: History,
  limits: TierLimits,
  options: AdmissionOptions,
  mayHold: ReadonlySet<Decision>,
): Decision[] {
  if (options.tokensMayBeExhausted === true) return [];
  const bySlots = createSlotTest(history, limits.concurrent, options, mayHold);
  return history.decisions.filter(
    (one) => one.outcome === "refused" && (one.reportedWaitMs !== undefined || !bySlots(one)),
  );
}

function readingOf(countsRefusals: boolean, possibilities: ModelFits): LimiterReading[] {
  const { hour, minute } = compatibleModels(possibilities);
  if (hour.length === 0 || minute.length === 0) return [];
  const minutes = new Map(minute.map(({ shape, burstAdds }) => [`${shape} ${burstAdds}`, { shape, burstAdds }]));
  return [{ countsRefusals, hour: hour.map(({ shape }) => shape), minute: [...minutes.values()] }];
}

/**
 * Finds which limit was exceeded: the hour's, or else the minute's, if none of its models without `burstAdds` permits
 * all admitted requests. If neither limit was exceeded, the breach is `inconsistent`.
 */
function attributeBreach(fits: readonly ModelFits[]): HistoryVerdict {
  const over = (name: LimitName) =>
    fits.every((fit) => fit[name].every(({ model, unexplained }) => model.burstAdds || unexplained.length === 0));
  if (over("hour")) return breachOf("too many admitted", "hour");
  if (over("minute")) return breachOf("too many admitted", "minute");
  return breachOf("inconsistent", "any");
}

export interface PossibleShapes {
  readonly hour: readonly LimiterShape[];
  readonly minute: readonly LimiterShape[];
  /** Whether the burst raises the limit per minute. If both are possible, the list has `true` and `false`. */
  readonly burstAdds: readonly boolean[];
  /** Whether refused requests count toward the limits. If the history allows both answers, the list has both. */
  readonly countsRefusals: readonly boolean[];
}

export function possibleShapes(readings: readonly LimiterReading[]): PossibleShapes {
  return {
    hour: distinct(readings.flatMap((reading) => reading.hour)),
    minute: distinct(readings.flatMap((reading) => reading.minute.map(({ shape }) => shape))),
    burstAdds: distinct(readings.flatMap((reading) => reading.minute.map(({ burstAdds }) => burstAdds))),
    countsRefusals: distinct(readings.map((reading) => reading.countsRefusals)),
  };
}

/** Describes whether refused requests count toward the limits, which the document leaves open (LIM-16). */
export function describeRefusalCounting({ countsRefusals }: Pick<PossibleShapes, "countsRefusals">): string {
  if (countsRefusals.length > 1)
    return "refused requests may or may not use up the allowance: both explain what was seen";
  return `refused requests ${countsRefusals[0] === true ? "use" : "do not use"} up the allowance`;
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
