import {
  anchored,
  fixed,
  type ReportingLimiter,
  reading,
  rolling,
  type Size,
} from "../../../rules/limits/admission/testing/limiters.ts";
import type { Random } from "../../../rules/limits/admission/testing/random.ts";

export function weighted(size: Size, phaseMs: number): ReportingLimiter {
  const { capacity, windowMs } = size;
  const counts = new Map<number, number>();
  const windowAt = (ms: number) => Math.floor((ms - phaseMs) / windowMs);
  const add = (ms: number, by: number) => void counts.set(windowAt(ms), (counts.get(windowAt(ms)) ?? 0) + by);
  const left = (ms: number) => {
    const elapsed = (ms - phaseMs - windowAt(ms) * windowMs) / windowMs;
    return capacity - (counts.get(windowAt(ms)) ?? 0) - (counts.get(windowAt(ms) - 1) ?? 0) * (1 - elapsed);
  };
  return {
    isFull: (ms) => left(ms) < 1 - 1e-9,
    count: (ms) => add(ms, 1),
    uncount: (ms) => add(ms, -1),
    countRefusal: (ms) => add(ms, 1),
    read: (ms) => reading(size, left(ms), phaseMs + (windowAt(ms) + 1) * windowMs),
    roomAtMs: (ms) => {
      let atMs = ms;
      while (left(atMs) < 1 - 1e-9) atMs += 200;
      return atMs;
    },
  };
}

/** Creates a token bucket. The reset is when the bucket is full again, or else when its next token comes. */
export function bucket(size: Size, refillPerMs: number, reportsFull: boolean): ReportingLimiter {
  const { capacity } = size;
  let fullMs = -Infinity;
  const left = (ms: number) => capacity - Math.max(0, fullMs - ms) * refillPerMs;
  const take = (ms: number) => void (fullMs = Math.max(fullMs, ms) + 1 / refillPerMs);
  const roomAtMs = (ms: number) => Math.max(ms, fullMs - (capacity - 1) / refillPerMs);
  return {
    isFull: (ms) => left(ms) < 1 - 1e-9,
    count: take,
    uncount: () => void (fullMs -= 1 / refillPerMs),
    countRefusal: take,
    read: (ms) =>
      reading(size, left(ms), reportsFull ? Math.min(Math.max(ms, fullMs), ms + size.windowMs) : ms + 1 / refillPerMs),
    roomAtMs,
  };
}

export const shapes = ["fixed", "anchored", "pushed", "rolling", "weighted"] as const;

export function limiterOf(shape: (typeof shapes)[number], size: Size, random: Random): ReportingLimiter {
  const phaseMs = random.between(0, size.windowMs);
  switch (shape) {
    case "fixed":
      return fixed(size, phaseMs);
    case "anchored":
      return anchored(size, false);
    case "pushed":
      return anchored(size, true);
    case "rolling":
      return rolling(size, random.chance(0.5));
    case "weighted":
      return weighted(size, phaseMs);
  }
}
