import type { TierLimits } from "../../../spec/tiers.ts";
import { fitBucket } from "./bucket.ts";
import { hourMs, minuteMs } from "../../../base/duration.ts";
import { type Bucket, burstBucket } from "./models.ts";
import type { Decision, History, AdmissionOptions } from "./history.ts";
import { hasRefusal } from "./refusals.ts";
import { createSlotTest } from "./slots.ts";
import { countUpTo } from "../../../base/sorted.ts";
import { requestsBefore, timelineOf, type TimedRefusal, type AdmissionTimeline } from "./timeline.ts";

export interface RefusalReasons {
  /**
   * Refusals that some allowed limiter may have made. The refused requests may have used up the limits, or held a
   * concurrency slot.
   */
  readonly explained: ReadonlySet<Decision>;
  /** Refusals that no allowed limiter can have made. */
  readonly unexplained: readonly Decision[];
}

/**
 * Maximum number of rounds. In each round, the refusals explained so far help to explain others. After the last round,
 * all remaining refusals count as explained.
 */
const maxRounds = 12;

/**
 * Finds the refusals that some limiter may have made.
 * A refused request may itself count toward the limit, and so explain later refusals. It never explains an earlier one:
 * otherwise, a limiter that refuses too early would justify itself.
 */
export function explainRefusals(history: History, limits: TierLimits, options: AdmissionOptions): RefusalReasons {
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
  const left = fitBucket(timeline, smallestBucket(limits))?.unexplained;
  const tolerance = options.toleranceMs ?? 50;
  // A request without a response may have been refused. So it may have restarted the time of a window, as refusals may.
  const pushers = [...explained, ...history.decisions.filter(({ outcome }) => outcome === "unknown")];
  const byHour = createFullWindowTest(timeline, hourMs, limits.perHour, chainsOf(pushers, hourMs, tolerance));
  const byMinute = createFullWindowTest(timeline, minuteMs, limits.perMinute, chainsOf(pushers, minuteMs, tolerance));
  const verdicts = timeline.refusals.map(
    (refusal, index) =>
      (left !== undefined && !hasRefusal(left, index)) ||
      (refusal.decision.reportedWaitMs === undefined && bySlots(refusal.decision)) ||
      byMinute(refusal) ||
      byHour(refusal),
  );
  return (_, index) => verdicts[index] ?? false;
}

/**
 * Returns the burst bucket with its size as a minimum. The fit then assumes the smallest bucket that can have admitted
 * the requests, because a larger one would refuse fewer.
 */
function smallestBucket(limits: TierLimits): Bucket {
  const bucket = burstBucket(limits);
  return { ...bucket, capacity: { kind: "minimum", requests: bucket.capacity.requests } };
}

/**
 * Returns a function that tests whether some window may have been full when a request was refused.
 * It counts the requests of the last two window lengths, because some limiters weigh the previous window. If earlier
 * refusals may have restarted the window's time, it also counts those from one window length before them.
 */
function createFullWindowTest(timeline: AdmissionTimeline, windowMs: number, capacity: number, chains: RefusalChains) {
  return (refusal: TimedRefusal): boolean => {
    const opensMs = Math.min(refusal.fromMs - 2 * windowMs, chains.firstOf(refusal) - windowMs);
    if (opensMs <= timeline.unknownUseUntilMs) return true;
    return refusal.countedBefore - requestsBefore(timeline.counted.latest, opensMs) >= capacity;
  };
}

interface RefusalChains {
  /**
   * Returns the time of the first refusal in the chain that may have restarted this refusal's window. Returns
   * `Infinity` if there is no such chain.
   */
  readonly firstOf: (refusal: TimedRefusal) => number;
}

/** Finds chains of refusals in which each lies less than a window after the one before. */
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
