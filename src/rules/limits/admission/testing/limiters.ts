import type { Random } from "./random.ts";

/** A rate limit of a simulated server. Times are on the limiter's clock, in ms, and may go back a little. */
export interface Limiter {
  readonly isFull: (nowMs: number) => boolean;
  readonly count: (nowMs: number) => void;
  /** Counts a refused request, if refusals count in this limiter. */
  readonly countRefusal: (nowMs: number) => void;
}

export function rolling(capacity: number, windowMs: number): Limiter {
  let log: number[] = [];
  const count = (nowMs: number) => void log.push(nowMs);
  return {
    isFull: (nowMs) => {
      log = log.filter((ms) => ms > nowMs - windowMs);
      return log.length >= capacity;
    },
    count,
    countRefusal: count,
  };
}

export function fixed(capacity: number, windowMs: number, phaseMs: number): Limiter {
  const counts = new Map<number, number>();
  const windowAt = (nowMs: number) => Math.floor((nowMs - phaseMs) / windowMs);
  const count = (nowMs: number) => void counts.set(windowAt(nowMs), (counts.get(windowAt(nowMs)) ?? 0) + 1);
  return { isFull: (nowMs) => (counts.get(windowAt(nowMs)) ?? 0) >= capacity, count, countRefusal: count };
}

export function anchored(capacity: number, windowMs: number, pushedByRefusals: boolean): Limiter {
  let endsMs = -Infinity;
  let counted = 0;
  const count = (nowMs: number) => {
    if (nowMs >= endsMs) {
      endsMs = nowMs + windowMs;
      counted = 0;
    }
    counted += 1;
  };
  return {
    isFull: (nowMs) => nowMs < endsMs && counted >= capacity,
    count,
    countRefusal: (nowMs) => {
      if (pushedByRefusals) endsMs = Math.max(endsMs, nowMs + windowMs);
      else count(nowMs);
    },
  };
}

export type Rounding = "below" | "fits" | "floor";

export function weighted(capacity: number, windowMs: number, phaseMs: number, rounding: Rounding): Limiter {
  const counts = new Map<number, number>();
  const windowAt = (nowMs: number) => Math.floor((nowMs - phaseMs) / windowMs);
  const estimate = (nowMs: number) => {
    const index = windowAt(nowMs);
    const elapsed = (nowMs - phaseMs - index * windowMs) / windowMs;
    return (counts.get(index) ?? 0) + (counts.get(index - 1) ?? 0) * (1 - elapsed);
  };
  const count = (nowMs: number) => void counts.set(windowAt(nowMs), (counts.get(windowAt(nowMs)) ?? 0) + 1);
  return {
    isFull: (nowMs) => {
      if (rounding === "fits") return estimate(nowMs) + 1 > capacity;
      return (rounding === "floor" ? Math.floor(estimate(nowMs)) : estimate(nowMs)) >= capacity;
    },
    count,
    countRefusal: count,
  };
}

export function bucket(capacity: number, refillPerMs: number, refillsWhole: boolean): Limiter {
  let tokens = capacity;
  let atMs: number | null = null;
  const refill = (nowMs: number) => {
    const elapsedMs = Math.max(0, nowMs - (atMs ?? nowMs));
    const gained = refillsWhole ? Math.floor(elapsedMs * refillPerMs + 1e-9) : elapsedMs * refillPerMs;
    atMs =
      refillsWhole && tokens + gained < capacity
        ? (atMs ?? nowMs) + gained / refillPerMs
        : Math.max(atMs ?? nowMs, nowMs);
    tokens = Math.min(capacity, tokens + gained);
  };
  const take = (nowMs: number) => {
    refill(nowMs);
    tokens -= 1;
  };
  return {
    isFull: (nowMs) => {
      refill(nowMs);
      return tokens < 1 - 1e-9;
    },
    count: take,
    countRefusal: take,
  };
}

export const windowShapes = ["rolling", "fixed", "anchored", "pushed", "weighted"] as const;
export type WindowShape = (typeof windowShapes)[number];

export function windowLimiter(shape: WindowShape, capacity: number, windowMs: number, random: Random): Limiter {
  const phaseMs = random.between(0, windowMs);
  switch (shape) {
    case "rolling":
      return rolling(capacity, windowMs);
    case "fixed":
      return fixed(capacity, windowMs, phaseMs);
    case "anchored":
      return anchored(capacity, windowMs, false);
    case "pushed":
      return anchored(capacity, windowMs, true);
    case "weighted":
      return weighted(capacity, windowMs, phaseMs, random.pick(["below", "fits", "floor"]));
  }
}
