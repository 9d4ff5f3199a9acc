import type { Row } from "../../base/covering-array.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { isRefusedKey } from "./reach.ts";

/** Number of requests to send in each quarter of a minute. */
const rowsOfQuarter = 8;
/** A quarter of a minute and two seconds more, so that the requests meet every second of a minute. */
const quarterMs = 17_000;

/**
 * Returns a function to await before each request. With a test clock, it passes a minute before the first request of a
 * kind of key to an endpoint. That request is then the first after a reset. Now and then it passes a quarter of a
 * minute.
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
