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
  readonly explained: ReadonlySet<Decision>;
  readonly unexplained: readonly Decision[];
}

/**
 * Maximum number of rounds that search for reasons of the refusals. After this many rounds, every remaining refusal
 * counts as explained.
 */
const maxRounds = 12;

/**
 * Separates refusals that a legal limiter could make from other refusals. For example, a limiter can count refused
 * requests and therefore refuse later ones.
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
  // On some servers, each refusal restarts the window. A request without a response was possibly refused, too.
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

/** Returns the smallest possible burst bucket. If it does not explain a refusal, no larger bucket does. */
function smallestBucket(limits: TierLimits): Bucket {
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
  /** Returns the start time of the chain that `refusal` continues; `Infinity` if it continues no chain. */
  readonly firstOf: (refusal: TimedRefusal) => number;
}

/** Groups refusals into chains. In a chain, each refusal comes within one window length of the previous refusal. */
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
