import { hourMs, minuteMs } from "../../../base/duration.ts";
import type { TierLimits } from "../../../spec/tiers.ts";

/** A set of refusals, stored as a bitmap. For example, bit 5 stands for the refusal with index 5. */
export type RefusalSet = Uint32Array;

export function noRefusals(size: number): RefusalSet {
  return new Uint32Array((size + 31) >>> 5);
}

export function addRefusal(set: RefusalSet, index: number): void {
  set[index >>> 5] = (set[index >>> 5] ?? 0) | (1 << (index & 31));
}

export function hasRefusal(set: RefusalSet, index: number): boolean {
  return (((set[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1;
}

export function isEmpty(set: RefusalSet): boolean {
  return set.every((word) => word === 0);
}

export function intersection(left: RefusalSet, right: RefusalSet): RefusalSet {
  return left.map((word, index) => word & (right[index] ?? 0));
}

export function areDisjoint(left: RefusalSet, right: RefusalSet): boolean {
  return left.every((word, index) => (word & (right[index] ?? 0)) === 0);
}

export function isSubset(part: RefusalSet, whole: RefusalSet): boolean {
  return part.every((word, index) => (word & ~(whole[index] ?? 0)) === 0);
}

/** Maximum number of refusal sets to keep for one limiter model, to limit computing time. */
const maxKeptSets = 48;

/**
 * Adds a set to a list in which no set contains another. If the list is full, merges the last set and the new set into
 * their intersection. Then fewer refusals may count as unexplained, but never more: this avoids false alarms.
 */
export function addMinimalSet(sets: RefusalSet[], set: RefusalSet): void {
  if (sets.some((kept) => isSubset(kept, set))) return;
  const stillMinimal = sets.filter((kept) => !isSubset(set, kept));
  const last = stillMinimal.length >= maxKeptSets ? stillMinimal.pop() : undefined;
  stillMinimal.push(last === undefined ? set : intersection(last, set));
  sets.splice(0, sets.length, ...stillMinimal);
}

/**
 * The way in which a limiter counts requests.
 *
 * - `rolling`: at any time, the requests of the last minute or hour count.
 * - `fixed`: windows follow each other without gaps, and each starts from zero.
 * - `anchored`: a window opens with the first counted request after the last window has ended.
 * - `pushed`: like `anchored`, but a refused request restarts the window's time.
 * - `weighted`: like `fixed`, but part of the previous window counts, too, as an estimate of `rolling`.
 * - `bucket`: tokens refill steadily. The hour is never a `bucket`, because the document calls the hour a window.
 */
export type LimiterShape = "rolling" | "fixed" | "anchored" | "pushed" | "weighted" | "bucket";

export type LimitName = "hour" | "minute";

/** The number of requests that a limiter admits: exactly known, or only a minimum. */
export type Capacity =
  | { readonly kind: "exactly"; readonly requests: number }
  | { readonly kind: "minimum"; readonly requests: number };

export interface Window {
  readonly windowMs: number;
  readonly capacity: Capacity;
}

export interface Bucket {
  readonly capacity: Capacity;
  readonly refillPerMs: number;
}

/**
 * The result for a limiter model that permits all admitted requests. The model explains all refusals except those in
 * `unexplained`.
 */
export interface Fit {
  readonly unexplained: RefusalSet;
}

export type LimiterModel =
  | ({ readonly shape: Exclude<LimiterShape, "bucket">; readonly burstAdds: boolean } & Window)
  | ({ readonly shape: "bucket"; readonly burstAdds: boolean } & Bucket);

const windowShapes = ["rolling", "fixed", "anchored", "pushed", "weighted"] as const;

const exactly = (requests: number): Capacity => ({ kind: "exactly", requests });
const minimum = (requests: number): Capacity => ({ kind: "minimum", requests });

const bucketOf = (burst: number | null) => (burst === null ? minimum(1) : exactly(Math.max(1, burst)));

/**
 * Raises a minimum capacity to `needed`, the smallest capacity that allows all admitted requests. Never changes an
 * exact capacity.
 */
export function raisedCapacity(capacity: Capacity, needed: number): number {
  return capacity.kind === "exactly" ? capacity.requests : Math.max(capacity.requests, needed);
}

export function hourModels(limits: TierLimits): LimiterModel[] {
  return windowShapes.map((shape) => ({
    shape,
    burstAdds: false,
    windowMs: hourMs,
    capacity: exactly(limits.perHour),
  }));
}

export function minuteModels(limits: TierLimits): LimiterModel[] {
  const { perMinute, burst } = limits;
  const refillPerMs = perMinute / minuteMs;
  const topped = burst === null ? minimum(perMinute) : exactly(perMinute + burst);
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

/** Models a separate burst limit as a token bucket, which refills at the rate of the limit per minute. */
export function burstBucket(limits: TierLimits): Bucket {
  return { capacity: bucketOf(limits.burst), refillPerMs: limits.perMinute / minuteMs };
}
