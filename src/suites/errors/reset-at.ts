import { type Exchange, headerValues } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import { dateSeconds, retryAfterSeconds, secondsHeader } from "../../rules/limits/sample.ts";
import { errorOf } from "../shared/response.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { isTimestamp } from "../../rules/bodies/timestamps.ts";

/** How far `reset_at` may be from a computed instant: 2 seconds, and 1 as either may be rounded to whole seconds. */
const toleranceSeconds = 3;
const longestWindowSeconds = 3600;
/** `retry_after` must be in other units if the wait ends later than this after `reset_at`. */
const maxPastResetSeconds = 60;

/**
 * Judges `reset_at` in the details of an error, if present. It must be a timestamp and one of these: the end of the wait
 * that `retry_after` gives; a future end of a window, which may be before or after the end of the wait; the reset of the
 * window in the headers. Judges only the form if the timestamp has no zone or the target's clock is unknown.
 */
export function resetAtMismatch(exchange: Exchange): Mismatch | null {
  const resetAt = getPath(errorOf(exchange)?.["details"], "reset_at");
  if (resetAt === undefined) return null;
  if (typeof resetAt !== "string" || !isTimestamp(resetAt))
    return { expected: "`reset_at` is an ISO 8601 timestamp", actual: formatValue(resetAt) };
  const atSeconds = Date.parse(resetAt) / 1000;
  const retryAfter = retryAfterSeconds(exchange);
  if (!/(?:Z|[+-]\d{2}(?::?\d{2})?)$/i.test(resetAt) || Number.isNaN(atSeconds) || retryAfter === null) return null;
  const reset = secondsHeader(exchange, headerNames.rateReset);
  const agrees = (now: number): boolean =>
    Math.abs(atSeconds - now - retryAfter) <= toleranceSeconds ||
    (atSeconds >= now - toleranceSeconds &&
      retryAfter - (atSeconds - now) <= maxPastResetSeconds &&
      atSeconds - now <= longestWindowSeconds + toleranceSeconds) ||
    (reset !== null && Math.abs(atSeconds - reset) <= toleranceSeconds);
  const clocks = targetClocks(exchange, reset);
  const [first] = clocks;
  if (first === undefined || clocks.some(agrees)) return null;
  const now = headerValues(exchange, "Date")[0] ?? new Date(first * 1000).toISOString();
  return {
    expected: `\`reset_at\` agrees with \`retry_after\` (${retryAfter} s)`,
    actual: `${formatValue(resetAt)}, although the target's clock reports ${now}`,
  };
}

/** The times on the target's clock in Unix seconds: from `Date`, and from the two reset headers. */
function targetClocks(exchange: Exchange, reset: number | null): number[] {
  const resetAfter = secondsHeader(exchange, headerNames.rateResetAfter);
  const date = dateSeconds(exchange);
  return [...(date === null ? [] : [date]), ...(reset === null || resetAfter === null ? [] : [reset - resetAfter])];
}
