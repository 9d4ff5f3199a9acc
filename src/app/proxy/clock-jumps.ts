import { type Exchange, headerValues } from "../../evidence/exchange.ts";

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
      const date = Date.parse(headerValues(exchange, "Date")[0] ?? "");
      if (!Number.isNaN(date) && exchange.answer.kind === "answered") {
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

/** Maximum number of advances to remember. Exchanges that are still under way began after the last of them. */
const maxAdvances = 1000;
