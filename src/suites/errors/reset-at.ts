import { bodyJson, type Exchange, headerValues } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import { dateSeconds, retryAfterSeconds, secondsHeader } from "../../rules/limits/sample.ts";
import { errorOf } from "../shared/response.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { isTimestamp } from "../../rules/bodies/timestamps.ts";

const detailsOf = (exchange: Exchange): unknown => errorOf(exchange)?.["details"];

/** How far `reset_at` may be from what it is compared with: two seconds, and one for whole seconds on either side. */
const toleranceSeconds = 3;
const longestWindowSeconds = 3600;
/** A wait that goes on for longer than another minute after `reset_at` is in other units. */
const mostPastResetSeconds = 60;

/**
 * Judges `reset_at`, where details have it: a timestamp, and an end that is to come, of the wait that `retry_after` tells or of a window, which may
 * end before the wait, or after it where room comes back by and by; or the end of the window that the headers speak of. Without a zone, or a clock of the target to read it by, only its form.
 */
export function resetAtMismatch(exchange: Exchange): Mismatch | null {
  const resetAt = getPath(detailsOf(exchange), "reset_at");
  if (resetAt === undefined) return null;
  if (typeof resetAt !== "string" || !isTimestamp(resetAt))
    return { expected: "`reset_at` is an ISO 8601 timestamp", actual: formatValue(resetAt) };
  const atSeconds = Date.parse(resetAt) / 1000;
  const retryAfter = retryAfterSeconds(exchange);
  const clocks = targetClocks(exchange);
  if (!/(?:Z|[+-]\d{2}(?::?\d{2})?)$/i.test(resetAt) || Number.isNaN(atSeconds) || retryAfter === null) return null;
  const ofHeaders = secondsHeader(exchange, headerNames.rateReset);
  const agrees = (now: number): boolean =>
    Math.abs(atSeconds - now - retryAfter) <= toleranceSeconds ||
    (atSeconds >= now - toleranceSeconds &&
      retryAfter - (atSeconds - now) <= mostPastResetSeconds &&
      atSeconds - now <= longestWindowSeconds + toleranceSeconds) ||
    (ofHeaders !== null && Math.abs(atSeconds - ofHeaders) <= toleranceSeconds);
  if (clocks.length === 0 || clocks.some(agrees)) return null;
  return {
    expected: `\`reset_at\` agrees with \`retry_after\` (${retryAfter} s)`,
    actual: `${formatValue(resetAt)}, where the target's clock says ${headerValues(exchange, "Date")[0] ?? new Date((clocks[0] ?? 0) * 1000).toISOString()}`,
  };
}

/** What the target's clock showed, in Unix seconds: by its `Date`, and by the two headers of its reset. */
function targetClocks(exchange: Exchange): number[] {
  const reset = secondsHeader(exchange, headerNames.rateReset);
  const after = secondsHeader(exchange, headerNames.rateResetAfter);
  const date = dateSeconds(exchange);
  return [...(date === null ? [] : [date]), ...(reset === null || after === null ? [] : [reset - after])];
}

/** Whether a body is JSON that can be judged as an error. */
export const isReadable = (exchange: Exchange): boolean => bodyJson(exchange) !== undefined;
