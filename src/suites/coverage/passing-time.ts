import type { Row } from "../../base/covering-array.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { isRejectedKeyKind } from "./reach.ts";

/** Number of generated requests between two advances of the clock by `advanceMs`. */
const rowsPerAdvance = 8;
/** A quarter of a minute plus two seconds. The two seconds make the requests fall in every part of a minute. */
const advanceMs = 17_000;

/**
 * Creates a function to call before each request. It lets time pass by the test clock, so that the first request of
 * each key to each endpoint is the first in its window.
 */
export function passTimeBetween(time: Pick<RunClock, "canAdvance" | "passTime">): (row: Row) => Promise<void> {
  const begun = new Set<string>();
  let sent = 0;
  return async ({ endpoint = "", key = "" }) => {
    if (!time.canAdvance) return;
    const name = `${endpoint} ${key}`;
    const isFirst = !isRejectedKeyKind(key) && !begun.has(name);
    begun.add(name);
    sent += 1;
    const restMs = isFirst || sent % rowsPerAdvance === 0 ? advanceMs : 0;
    await time.passTime((isFirst ? minuteOverMs : 0) + restMs, "the next window must begin");
  };
}
