/**
 * What a limiter showed in one exchange, in the little space that thousands of requests leave.
 * Times as in {@link Exchange}; header values are `null` where absent or not a whole number.
 */
export interface Sample {
  readonly id: string;
  readonly kind: "invoke" | "stream" | "health" | "other";
  readonly sentMs: number;
  readonly headMs: number;
  readonly endMs: number;
  /** How far the target's clock had been moved when the request was sent, and when its answer began and ended. */
  readonly sentClockMs: number;
  readonly headClockMs: number;
  readonly endClockMs: number;
  /** `null`: no answer came. */
  readonly status: number | null;
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly reset: number | null;
  readonly resetAfter: number | null;
  /** Seconds, from the body of a 429. */
  readonly retryAfterSeconds: number | null;
  /** Unix seconds of the `Date` header. */
  readonly date: number | null;
}

/** What a sample holds where nothing was shown of the limiter. */
export const nothingShown = {
  limit: null,
  remaining: null,
  reset: null,
  resetAfter: null,
  retryAfterSeconds: null,
  date: null,
} as const satisfies Partial<Sample>;
