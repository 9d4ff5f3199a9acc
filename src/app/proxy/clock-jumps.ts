import { type Exchange, headerValues } from "../../evidence/exchange.ts";
import { secondsHeader } from "../../rules/limits/sample.ts";
import { headerNames } from "../../spec/headers.ts";

/** Minimum jump of the `Date` header that counts as an advance of the server's test clock. */
const minJumpMs = 5000;

/** Detects advances of the server's test clock from its responses. Call `withClock` when an exchange ends. */
export function trackClockAdvances() {
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
    count: (): number => count,
  };
}

function serverTimeMs(exchange: Exchange): number | null {
  const date = Date.parse(headerValues(exchange, "Date")[0] ?? "");
  if (!Number.isNaN(date)) return date;
  const [reset, resetAfter] = [headerNames.rateReset, headerNames.rateResetAfter].map((name) =>
    secondsHeader(exchange, name),
  );
  // Accepts only seconds. A reset time in milliseconds breaks clause HDR-14, and would look like a clock jump.
  const isUnixSeconds = typeof reset === "number" && reset > 1e9 && reset < 1e10;
  return isUnixSeconds && typeof resetAfter === "number" && resetAfter <= maxWindowSeconds
    ? (reset - resetAfter) * 1000
    : null;
}

const maxWindowSeconds = 3600;

/** Number of clock advances to remember. An older one matters only to an exchange that lasts through 1,000 advances. */
const maxAdvances = 1000;
