/** The values of a limiter in the headers. Times are in ms of the target's clock. */
export interface LimiterReport {
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

/** A rate limit of a simulated server. Times are in ms of the target's clock, and may go back a little. */
export interface Limiter {
  readonly isFull: (nowMs: number) => boolean;
  readonly count: (nowMs: number) => void;
  /** Counts a refused request, for servers where refusals count. */
  readonly countRefusal: (nowMs: number) => void;
}

/** A limiter that also reports its state in headers. Its times never go back. */
export interface ReportingLimiter extends Limiter {
  readonly uncount: (countedMs: number, nowMs: number) => void;
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

export const reading = ({ reported }: Size, left: number, resetMs: number): LimiterReport => ({
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
      if (pushes) endsMs = Math.max(endsMs, ms + windowMs);
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
