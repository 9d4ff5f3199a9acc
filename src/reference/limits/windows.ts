import { hourMs, minuteMs } from "../../base/duration.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import type { TierLimits } from "../../spec/tiers.ts";

/** Name of a limit's window. `address` limits the requests without a valid key, per IP address. */
export type WindowName = "hour" | "minute" | "address";

export interface WindowStatus {
  readonly window: WindowName;
  readonly limit: number;
  readonly remaining: number;
  readonly resetAtMs: number;
}

/** A limit on the number of requests. Times are Unix milliseconds; `nowMs` never decreases from call to call. */
export interface Limiter {
  readonly window: WindowName;
  hasRoom(nowMs: number): boolean;
  count(nowMs: number): void;
  uncount(countedAtMs: number, nowMs: number): void;
  status(nowMs: number): WindowStatus;
  roomAtMs(nowMs: number): number;
}

export interface WindowSize {
  readonly window: WindowName;
  readonly limit: number;
  readonly windowMs: number;
  readonly advertisedLimit?: number;
}

/**
 * Returns the windows of a tier: hour and minute. All keys of the tier share the same two objects, which saves memory.
 */
export const windowsOf = memoizeByObject(
  ({ perHour, perMinute }: TierLimits) =>
    ({
      hour: { window: "hour", limit: perHour, windowMs: hourMs },
      minute: { window: "minute", limit: perMinute, windowMs: minuteMs },
    }) as const satisfies Record<string, WindowSize>,
);

function windowStatus(size: WindowSize, left: number, resetAtMs: number): WindowStatus {
  const limit = size.advertisedLimit ?? size.limit;
  return { window: size.window, limit, remaining: Math.min(limit, Math.max(0, left)), resetAtMs };
}

/**
 * A limiter with fixed windows. To change a method, use `overrideLimiter`: `{ ...limiter }` would copy no methods of
 * the class.
 */
class FixedWindow implements Limiter {
  readonly size: WindowSize;
  /**
   * Number of the last counted request's window: the window's start divided by its length; -1 before the first request.
   */
  number = -1;
  used = 0;

  constructor(size: WindowSize) {
    this.size = size;
  }

  get window() {
    return this.size.window;
  }

  hasRoom(nowMs: number): boolean {
    return this.usedAt(nowMs) < this.size.limit;
  }

  count(nowMs: number): void {
    this.used = this.usedAt(nowMs) + 1;
    this.number = this.numberAt(nowMs);
  }

  uncount(countedAtMs: number, nowMs: number): void {
    if (countedAtMs >= this.number * this.size.windowMs && this.usedAt(nowMs) > 0) this.used -= 1;
  }

  status(nowMs: number): WindowStatus {
    return windowStatus(this.size, this.size.limit - this.usedAt(nowMs), this.endAt(nowMs));
  }

  roomAtMs(nowMs: number): number {
    return this.hasRoom(nowMs) ? nowMs : this.endAt(nowMs);
  }

  private usedAt(nowMs: number): number {
    return this.numberAt(nowMs) === this.number ? this.used : 0;
  }

  private endAt(nowMs: number): number {
    return (this.numberAt(nowMs) + 1) * this.size.windowMs;
  }

  private numberAt(nowMs: number): number {
    return Math.floor(nowMs / this.size.windowMs);
  }
}

/** Creates a limiter whose windows begin at multiples of their length, and so at the same times for all keys. */
export const fixedWindow = (size: WindowSize): FixedWindow => new FixedWindow(size);

/** Creates a limiter whose windows begin with the first request after the end of the last window. */
export function anchoredWindow(size: WindowSize): Limiter {
  let beganMs = Number.NEGATIVE_INFINITY;
  let used = 0;
  const beginOf = (nowMs: number): number => (nowMs < beganMs + size.windowMs ? beganMs : nowMs);
  // Only a counted request starts a new window. A call of `status` after the end of a window starts none.
  const usedAt = (nowMs: number) => (beginOf(nowMs) === beganMs ? used : 0);
  const endAt = (nowMs: number) => beginOf(nowMs) + size.windowMs;
  return {
    window: size.window,
    hasRoom: (nowMs) => usedAt(nowMs) < size.limit,
    count: (nowMs) => {
      used = usedAt(nowMs) + 1;
      beganMs = beginOf(nowMs);
    },
    uncount: (countedAtMs, nowMs) => {
      if (countedAtMs >= beganMs && usedAt(nowMs) > 0) used -= 1;
    },
    status: (nowMs) => windowStatus(size, size.limit - usedAt(nowMs), endAt(nowMs)),
    roomAtMs: (nowMs) => (usedAt(nowMs) < size.limit ? nowMs : endAt(nowMs)),
  };
}

/** Creates a limiter with a rolling window, which always counts the requests of the last `windowMs`. */
export function rollingWindow(size: WindowSize): Limiter {
  let log: number[] = [];
  let first = 0;
  const countRecent = (nowMs: number) => {
    while (first < log.length && (log[first] ?? 0) <= nowMs - size.windowMs) first += 1;
    if (first > 1024 && first * 2 > log.length) {
      log = log.slice(first);
      first = 0;
    }
    return log.length - first;
  };
  const expiryOf = (index: number, nowMs: number) => (log[index] ?? nowMs) + size.windowMs;
  return {
    window: size.window,
    hasRoom: (nowMs) => countRecent(nowMs) < size.limit,
    count: (nowMs) => void log.push(nowMs),
    uncount: (countedAtMs) => {
      const at = log.lastIndexOf(countedAtMs);
      if (at >= first) log.splice(at, 1);
    },
    status: (nowMs) => windowStatus(size, size.limit - countRecent(nowMs), expiryOf(first, nowMs)),
    roomAtMs: (nowMs) => (countRecent(nowMs) < size.limit ? nowMs : expiryOf(log.length - size.limit, nowMs)),
  };
}

/** Creates a limiter with a token bucket: at most `limit` tokens, and `refill` new tokens per `windowMs`. */
export function tokenBucket(size: WindowSize, refill: number = size.limit): Limiter {
  const msPerToken = size.windowMs / refill;
  // The time at which the token bucket is full again. This number is the whole state of the limiter.
  let fullAtMs = Number.NEGATIVE_INFINITY;
  const missing = (nowMs: number) => Math.max(0, fullAtMs - nowMs) / msPerToken;
  const left = (nowMs: number) => Math.floor(size.limit - missing(nowMs) + 1e-9);
  return {
    window: size.window,
    hasRoom: (nowMs) => left(nowMs) >= 1,
    // Takes a token from the bucket. `Math.min` prevents a negative number of tokens when a refused request is counted.
    count: (nowMs) =>
      void (fullAtMs = Math.min(Math.max(fullAtMs, nowMs) + msPerToken, nowMs + size.limit * msPerToken)),
    uncount: () => void (fullAtMs -= msPerToken),
    status: (nowMs) => windowStatus(size, left(nowMs), Math.max(nowMs + msPerToken, fullAtMs)),
    roomAtMs: (nowMs) => Math.max(nowMs, Math.ceil(fullAtMs - (size.limit - 1) * msPerToken)),
  };
}

/** Creates a limiter that estimates a rolling window from the weighted counts of two fixed windows. */
export function slidingWindow(size: WindowSize): Limiter {
  const { limit, windowMs } = size;
  let beganMs = Number.NEGATIVE_INFINITY;
  let used = 0;
  let previousUsed = 0;
  const startWindow = (nowMs: number) => {
    const began = Math.floor(nowMs / windowMs) * windowMs;
    if (began === beganMs) return;
    previousUsed = began - beganMs === windowMs ? used : 0;
    used = 0;
    beganMs = began;
  };
  const left = (nowMs: number) => {
    startWindow(nowMs);
    return limit - used - previousUsed * (1 - (nowMs - beganMs) / windowMs) + 1e-9;
  };
  const roomAtMs = (nowMs: number) => {
    if (left(nowMs) >= 1) return nowMs;
    // The previous window's count weighs less as time passes, which makes room. If `used` alone reaches the limit, room
    // comes only in the next window, in which `used` is the previous count.
    return used <= limit - 1
      ? Math.ceil(beganMs + windowMs * (1 - (limit - 1 - used) / previousUsed))
      : Math.ceil(beganMs + windowMs * (2 - (limit - 1) / used));
  };
  return {
    window: size.window,
    hasRoom: (nowMs) => left(nowMs) >= 1,
    count: (nowMs) => {
      startWindow(nowMs);
      used += 1;
    },
    uncount: (countedAtMs, nowMs) => {
      startWindow(nowMs);
      if (countedAtMs >= beganMs && used > 0) used -= 1;
    },
    status: (nowMs) => windowStatus(size, Math.floor(left(nowMs)), beganMs + windowMs),
    roomAtMs,
  };
}

export const overrideLimiter = (limiter: Limiter, changes: Partial<Limiter>): Limiter => ({
  window: limiter.window,
  hasRoom: (nowMs) => limiter.hasRoom(nowMs),
  count: (nowMs) => limiter.count(nowMs),
  uncount: (countedAtMs, nowMs) => limiter.uncount(countedAtMs, nowMs),
  status: (nowMs) => limiter.status(nowMs),
  roomAtMs: (nowMs) => limiter.roomAtMs(nowMs),
  ...changes,
});

export const hideUntilRefusal = (limiter: Limiter): Limiter =>
  overrideLimiter(limiter, {
    status: (nowMs) => {
      const status = limiter.status(nowMs);
      return limiter.hasRoom(nowMs) ? { ...status, remaining: Number.MAX_SAFE_INTEGER } : status;
    },
  });
