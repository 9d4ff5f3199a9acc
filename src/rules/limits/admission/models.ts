import { hourMs, minuteMs } from "../../../base/duration.ts";
import type { TierLimits } from "../../../spec/tiers.ts";
import type { RefusalSet } from "./refusals.ts";

/**
 * How a limiter may keep its count.
 * - `rolling`: the last window's length, at every instant.
 * - `fixed`: windows of one constant phase; the count starts again at each.
 * - `anchored`: a window opens with the first counted request after the one before has run out.
 * - `pushed`: anchored, but a refused request starts the window's time again.
 * - `weighted`: fixed windows, the one before counted in part, an approximation of `rolling`.
 * - `bucket`: tokens that refill steadily (the minute only; the document speaks of the hour as a window).
 */
export type LimiterShape = "rolling" | "fixed" | "anchored" | "pushed" | "weighted" | "bucket";

export type LimitName = "hour" | "minute";

/** `atLeast` where the published number is not known: the least number that the admitted requests allow is judged. */
export type Capacity =
  | { readonly kind: "exactly"; readonly requests: number }
  | { readonly kind: "atLeast"; readonly requests: number };

export interface Window {
  readonly windowMs: number;
  readonly capacity: Capacity;
}

export interface Bucket {
  readonly capacity: Capacity;
  readonly refillPerMs: number;
}

/** One limiter, or one small range of them, that the admitted requests do not refute. */
export interface Fit {
  readonly unexplained: RefusalSet;
}

export type LimiterModel =
  | ({ readonly shape: Exclude<LimiterShape, "bucket">; readonly burstAdds: boolean } & Window)
  | ({ readonly shape: "bucket"; readonly burstAdds: boolean } & Bucket);

const windowShapes = ["rolling", "fixed", "anchored", "pushed", "weighted"] as const;

const exactly = (requests: number): Capacity => ({ kind: "exactly", requests });
const atLeast = (requests: number): Capacity => ({ kind: "atLeast", requests });

const bucketOf = (burst: number | null) => (burst === null ? atLeast(1) : exactly(Math.max(1, burst)));

/** The number that a family is judged by; `needed` is what the admitted requests ask for. */
export function capacityFor(capacity: Capacity, needed: number): number {
  return capacity.kind === "exactly" ? capacity.requests : Math.max(capacity.requests, needed);
}

/** Every admissible way to keep the hourly limit. */
export function hourModels(limits: TierLimits): LimiterModel[] {
  return windowShapes.map((shape) => ({
    shape,
    burstAdds: false,
    windowMs: hourMs,
    capacity: exactly(limits.perHour),
  }));
}

/** Every admissible way to keep the minute's limit; the burst allowance may or may not come on top of it. */
export function minuteModels(limits: TierLimits): LimiterModel[] {
  const { perMinute, burst } = limits;
  const refillPerMs = perMinute / minuteMs;
  const topped = burst === null ? atLeast(perMinute) : exactly(perMinute + burst);
  const windows = windowShapes.flatMap((shape): LimiterModel[] => [
    { shape, burstAdds: false, windowMs: minuteMs, capacity: exactly(perMinute) },
    { shape, burstAdds: true, windowMs: minuteMs, capacity: topped },
    ...(burst !== null && burst > perMinute
      ? [{ shape, burstAdds: true, windowMs: minuteMs, capacity: exactly(burst) }]
      : []),
  ]);
  return [
    ...windows,
    { shape: "bucket", burstAdds: false, refillPerMs, capacity: bucketOf(burst) },
    { shape: "bucket", burstAdds: true, refillPerMs, capacity: topped },
  ];
}

/** A limiter of bursts may stand beside the minute's: a bucket of the burst's size that refills at the minute's rate. */
export function burstBucket(limits: TierLimits): Bucket {
  return { capacity: bucketOf(limits.burst), refillPerMs: limits.perMinute / minuteMs };
}
