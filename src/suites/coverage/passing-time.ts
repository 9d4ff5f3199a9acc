import type { Row } from "../../base/covering-array.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { isRefusedKey } from "./reach.ts";

/** Number of requests after which the clock is advanced by `quarterMs`. */
const rowsOfQuarter = 8;
/**
 * A quarter of a minute and two seconds more. After several such advances, requests fall in every second of a minute.
 */
const quarterMs = 17_000;

/**
 * Returns a function to await before each request. It does nothing without a test clock.
 *
 * Before the first request of each kind of key to each endpoint, the function passes a minute, so that this request is
 * the first after a reset. Every few requests, it passes a quarter of a minute.
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
