import { type Exchange, headerValues } from "../../evidence/exchange.ts";
import { secondsHeader } from "../../rules/limits/sample.ts";
import { headerNames } from "../../spec/headers.ts";

/** A `Date` that is further ahead than this shows that the server's clock was advanced. No real clock jumps as far. */
const minJumpMs = 5000;

/**
 * Notices that the clock of a server is advanced, as a test clock is. Its `Date` headers show it: they can lag, but never
 * run ahead.
 *
 * @returns a function that gives an exchange the advance of the clock when it was sent. Exchanges come as they end
 */
export function followClock() {
  /** The advances so far, each with the time at which it was noticed. */
  const advances: { readonly noticedMs: number; readonly advancedMs: number }[] = [];
  let firstMs: number | null = null;
  let count = 0;
  const advancedAt = (ms: number): number => advances.findLast(({ noticedMs }) => noticedMs <= ms)?.advancedMs ?? 0;
  return {
    withClock: (exchange: Exchange): Exchange => {
      const date = serverTimeMs(exchange);
      if (date !== null && exchange.answer.kind === "answered") {
        const { headMs } = exchange.answer;
        firstMs ??= date - headMs;
        const advancedMs = date - headMs - firstMs;
        if (advancedMs > (advances.at(-1)?.advancedMs ?? 0) + minJumpMs) {
          advances.push({ noticedMs: headMs, advancedMs });
          count += 1;
        }
        if (advances.length > maxAdvances) advances.shift();
      }
      const clockMs = advancedAt(exchange.sentMs);
      return clockMs === 0 ? exchange : { ...exchange, clockMs };
    },
    /** Number of advances so far. */
    count: (): number => count,
  };
}

/** The server's time when it responded, in Unix milliseconds. Without a `Date`, the rate-limit headers show it. */
function serverTimeMs(exchange: Exchange): number | null {
  const date = Date.parse(headerValues(exchange, "Date")[0] ?? "");
  if (!Number.isNaN(date)) return date;
  const [reset, resetAfter] = [headerNames.rateReset, headerNames.rateResetAfter].map((name) =>
    secondsHeader(exchange, name),
  );
  // Another unit than seconds would look like another time. HDR-14 judges that.
  const isUnixSeconds = typeof reset === "number" && reset > 1e9 && reset < 1e10;
  return isUnixSeconds && typeof resetAfter === "number" && resetAfter <= maxWindowSeconds
    ? (reset - resetAfter) * 1000
    : null;
}

const maxWindowSeconds = 3600;

/** Maximum number of advances to remember. Exchanges that are still under way began after the last of them. */
const maxAdvances = 1000;
