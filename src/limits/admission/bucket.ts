import { capacityFor, type Bucket, type Fit } from "./families.ts";
import { addRefusal, noRefusals } from "./refusals.ts";
import { countBelow } from "../../base/sorted.ts";
import type { Instants, TimedRefusal, AdmissionTimeline } from "./timeline.ts";

/** Rounding of sums of many refills. */
const roundingTokens = 1e-6;
/** What a server says of the time to wait may be rounded up, and hold some reserve. */
const reserveMs = 4000;

/**
 * A bucket of `capacity` tokens that refills steadily: over any span it admits its capacity and what refills meanwhile,
 * and it refuses only while it holds less than one token.
 */
export function fitBucket(timeline: AdmissionTimeline, { capacity, refillPerMs }: Bucket): Fit | null {
  const needed = timeline.layers.reduce((most, layer) => Math.max(most, tokensNeeded(layer, refillPerMs)), 0);
  const tokens = capacityFor(capacity, Math.ceil(needed - roundingTokens));
  if (needed > tokens + roundingTokens) return null;
  const unexplained = noRefusals(timeline.refusals.length);
  const spending = spendingOf(timeline, refillPerMs);
  timeline.refusals.forEach((refusal, index) => {
    if (!isExplained(timeline, spending, refusal, refillPerMs, tokens)) addRefusal(unexplained, index);
  });
  return { unexplained };
}

/** The tokens that the thirstiest span takes beyond its refill, each request placed where it takes least. */
function tokensNeeded({ earliest, latest }: Instants, refillPerMs: number): number {
  let leastBefore = Infinity;
  let most = 0;
  latest.forEach((endMs, index) => {
    leastBefore = Math.min(leastBefore, index - refillPerMs * (earliest[index] ?? 0));
    most = Math.max(most, index + 1 - refillPerMs * endMs - leastBefore);
  });
  return most;
}

/** For each instant at which a span may begin, the most that it and earlier ones gain over their refill. */
interface Spending {
  readonly beginsMs: Float64Array;
  readonly mostUpTo: Float64Array;
}

function spendingOf(timeline: AdmissionTimeline, refillPerMs: number): Spending {
  const beginsMs = timeline.counted.latest;
  let most = -Infinity;
  const mostUpTo = beginsMs.map((ms, index) => {
    if (Number.isFinite(ms)) most = Math.max(most, refillPerMs * ms - index);
    return most;
  });
  return { beginsMs, mostUpTo };
}

function isExplained(
  timeline: AdmissionTimeline,
  spending: Spending,
  refusal: TimedRefusal,
  refillPerMs: number,
  tokens: number,
): boolean {
  if (saysLonger(refusal, refillPerMs)) return false;
  const closed = countBelow(spending.beginsMs, refusal.fromMs);
  const atOnce = refusal.countedBefore - closed;
  const before = refusal.countedBefore - refillPerMs * refusal.fromMs + (spending.mostUpTo[closed - 1] ?? -Infinity);
  // Without a refill in between there is nothing to round: a full bucket gives all that it holds.
  if (atOnce > tokens - 1 || before > tokens - 1 - roundingTokens) return true;
  const refilled = refillPerMs * Math.max(0, refusal.fromMs - timeline.unseenUntilMs);
  return refusal.countedBefore > refilled - 1 - roundingTokens;
}

/** Whether the refusal says that nothing comes back for longer than a bucket takes to gain a token, and to pay for refusals that counted. */
function saysLonger({ decision: { saysWaitMs }, refusedBefore }: TimedRefusal, refillPerMs: number): boolean {
  return saysWaitMs !== undefined && saysWaitMs > (1 + refusedBefore) / refillPerMs + reserveMs;
}
