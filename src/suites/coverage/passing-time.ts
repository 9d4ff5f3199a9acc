import type { Row } from "../../base/covering-array.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { isRefusedKey } from "./reach.ts";

/** Number of requests in each quarter of a minute. */
const rowsOfQuarter = 8;
/** A quarter of a minute, and two seconds, so that all seconds are met. */
const quarterMs = 17_000;

/**
 * Returns what to await before each request. With a test clock, it passes the minute before the first request of a kind
 * of key to an endpoint, so that it is the first one after a reset, and now and then a quarter of a minute.
 */
export function passTimeBetween(time: Pick<RunClock, "canAdvance" | "passTime">): (row: Row) => Promise<void> {
  const begun = new Set<string>();
  let sent = 0;
  return async ({ endpoint = "", key = "" }) => {
    if (!time.canAdvance) return;
    const name = `${endpoint} ${key}`;
    const isFirst = !isRefusedKey(key) && !begun.has(name);
    begun.add(name);
    sent += 1;
    const restMs = isFirst || sent % rowsOfQuarter === 0 ? quarterMs : 0;
    await time.passTime((isFirst ? minuteOverMs : 0) + restMs, "the next window must begin");
  };
}
