import { addRefusal, type Bucket, raisedCapacity, type Fit, noRefusals } from "./models.ts";
import { countBelow } from "../../../base/lists.ts";
import {
  requestsInFirstEntries,
  type Tally,
  type Instants,
  type TimedRefusal,
  type AdmissionTimeline,
} from "./timeline.ts";

/** Tolerance, in tokens, for floating-point errors that add up over many refills. */
const roundingTokens = 1e-6;
/**
 * Tolerance for a reported wait, such as `retry_after`, that is longer than necessary. Servers round waits up or add
 * seconds.
 */
const maxReportedExcessMs = 4000;

/**
 * Returns the refusals that a token bucket does not explain. Returns `null` if the bucket holds too few tokens for the
 * admitted requests.
 */
export function fitBucket(timeline: AdmissionTimeline, { capacity, refillPerMs }: Bucket): Fit | null {
  const needed = timeline.layers.reduce((max, layer) => Math.max(max, tokensNeeded(layer, refillPerMs)), 0);
  const tokens = raisedCapacity(capacity, Math.ceil(needed - roundingTokens));
  if (needed > tokens + roundingTokens) return null;
  const unexplained = noRefusals(timeline.refusals.length);
  const unspent = unspentRefills(timeline, refillPerMs);
  timeline.refusals.forEach((refusal, index) => {
    if (!isExplained(timeline, unspent, refusal, refillPerMs, tokens)) addRefusal(unexplained, index);
  });
  return { unexplained };
}

function tokensNeeded({ earliest, latest }: Instants, refillPerMs: number): number {
  let minBefore = Infinity;
  let max = 0;
  let begun = 0;
  latest.values.forEach((endMs, index) => {
    const ended = requestsInFirstEntries(latest, index + 1);
    for (; begun < earliest.values.length && requestsInFirstEntries(earliest, begun) < ended; begun += 1)
      minBefore = Math.min(
        minBefore,
        requestsInFirstEntries(earliest, begun) - refillPerMs * (earliest.values[begun] ?? 0),
      );
    max = Math.max(max, ended - refillPerMs * endMs - minBefore);
  });
  return max;
}

/**
 * Tokens refilled minus tokens spent, as if the bucket had no limit. `maxUpTo[i]` is the maximum of this balance up
 * to the time `latest.values[i]`. The fewest tokens are left now if the bucket was full at that maximum.
 */
interface UnspentRefills {
  readonly latest: Tally;
  readonly maxUpTo: Float64Array;
}

function unspentRefills(timeline: AdmissionTimeline, refillPerMs: number): UnspentRefills {
  const { latest } = timeline.counted;
  let max = -Infinity;
  const maxUpTo = latest.values.map((ms, index) => {
    if (Number.isFinite(ms)) max = Math.max(max, refillPerMs * ms - requestsInFirstEntries(latest, index));
    return max;
  });
  return { latest, maxUpTo };
}

function isExplained(
  timeline: AdmissionTimeline,
  unspent: UnspentRefills,
  refusal: TimedRefusal,
  refillPerMs: number,
  tokens: number,
): boolean {
  if (reportsLongerWait(refusal, refillPerMs)) return false;
  const earlier = countBelow(unspent.latest.values, refusal.fromMs);
  const atOnce = refusal.countedBefore - requestsInFirstEntries(unspent.latest, earlier);
  const before = refusal.countedBefore - refillPerMs * refusal.fromMs + (unspent.maxUpTo[earlier - 1] ?? -Infinity);
  // Simultaneous requests need no tolerance for rounding, because the bucket refills nothing between them.
  if (atOnce > tokens - 1 || before > tokens - 1 - roundingTokens) return true;
  const refilled = refillPerMs * Math.max(0, refusal.fromMs - timeline.unknownUseUntilMs);
  return refusal.countedBefore > refilled - 1 - roundingTokens;
}

function reportsLongerWait(
  { decision: { reportedWaitMs }, refusedBefore }: TimedRefusal,
  refillPerMs: number,
): boolean {
  return reportedWaitMs !== undefined && reportedWaitMs > (1 + refusedBefore) / refillPerMs + maxReportedExcessMs;
}
