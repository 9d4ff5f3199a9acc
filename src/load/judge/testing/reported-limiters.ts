import type { Random } from "../../../rules/limits/admission/testing/random.ts";

/** The values of a limiter in the headers. Times are in ms of the target's clock. */
export interface LimiterReport {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

/**
 * A limiter as a server would implement and report it. All times are in ms of the target's clock, and never go back.
 */
export interface ReportingLimiter {
  readonly isFull: (nowMs: number) => boolean;
  readonly count: (nowMs: number) => void;
  readonly uncount: (countedMs: number, nowMs: number) => void;
  /** Counts a refused request, for servers where refusals count. */
  readonly countRefusal: (nowMs: number) => void;
  readonly read: (nowMs: number) => LimiterReport;
  /** When the next request will be admitted. */
  readonly roomAtMs: (nowMs: number) => number;
}

export interface Size {
  readonly capacity: number;
  /** The number in the `Limit` header. */
  readonly reported: number;
  readonly windowMs: number;
}

const reading = ({ reported }: Size, left: number, resetMs: number): LimiterReport => ({
  limit: reported,
  remaining: Math.max(0, Math.min(reported, Math.floor(left + 1e-9))),
  resetMs,
});

export function fixed(size: Size, phaseMs: number): ReportingLimiter {
  const { capacity, windowMs } = size;
  const counts = new Map<number, number>();
  const windowAt = (ms: number) => Math.floor((ms - phaseMs) / windowMs);
  const add = (ms: number, by: number) => void counts.set(windowAt(ms), (counts.get(windowAt(ms)) ?? 0) + by);
  const used = (ms: number) => counts.get(windowAt(ms)) ?? 0;
  const endMs = (ms: number) => phaseMs + (windowAt(ms) + 1) * windowMs;
  return {
    isFull: (ms) => used(ms) >= capacity,
    count: (ms) => add(ms, 1),
    uncount: (ms) => add(ms, -1),
    countRefusal: (ms) => add(ms, 1),
    read: (ms) => reading(size, capacity - used(ms), endMs(ms)),
    roomAtMs: (ms) => (used(ms) < capacity ? ms : endMs(ms)),
  };
}

/**
 * Creates a limiter whose window begins with a request. `pushes`: a refused request restarts the window. `reportsPush`:
 * the headers report the restart.
 */
export function anchored(size: Size, pushes: boolean, reportsPush = true): ReportingLimiter {
  const { capacity, windowMs } = size;
  let endsMs = -Infinity;
  let reportedMs = -Infinity;
  let used = 0;
  const isOpen = (ms: number) => ms < endsMs;
  const count = (ms: number) => {
    if (!isOpen(ms)) {
      endsMs = ms + windowMs;
      reportedMs = endsMs;
      used = 0;
    }
    used += 1;
  };
  const reportedEnd = (ms: number) => (reportsPush ? endsMs : Math.max(reportedMs, ms));
  return {
    isFull: (ms) => isOpen(ms) && used >= capacity,
    count,
    uncount: (countedMs, ms) => {
      if (isOpen(ms) && countedMs >= endsMs - windowMs) used -= 1;
    },
    countRefusal: (ms) => {
      if (pushes) endsMs = ms + windowMs;
      else count(ms);
    },
    read: (ms) => reading(size, isOpen(ms) ? capacity - used : capacity, isOpen(ms) ? reportedEnd(ms) : ms + windowMs),
    roomAtMs: (ms) => (isOpen(ms) && used >= capacity ? reportedEnd(ms) : ms),
  };
}

/**
 * Creates a rolling window. The reset is when the oldest request leaves the window, or else a whole window from now.
 */
export function rolling(size: Size, reportsOldest: boolean): ReportingLimiter {
  const { capacity, windowMs } = size;
  let log: number[] = [];
  const live = (ms: number) => (log = log.filter((one) => one > ms - windowMs));
  const count = (ms: number) => void log.push(ms);
  return {
    isFull: (ms) => live(ms).length >= capacity,
    count,
    uncount: (countedMs) => {
      const at = log.lastIndexOf(countedMs);
      if (at >= 0) log.splice(at, 1);
    },
    countRefusal: count,
    read: (ms) =>
      reading(size, capacity - live(ms).length, reportsOldest ? (live(ms)[0] ?? ms) + windowMs : ms + windowMs),
    roomAtMs: (ms) => {
      const kept = live(ms);
      return kept.length < capacity ? ms : (kept[kept.length - capacity] ?? ms) + windowMs;
    },
  };
}

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
