import type { Row } from "../../base/covering-array.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import type { RunClock } from "../../run/time/run-clock.ts";
import { isRejectedKeyKind } from "./reach.ts";

/** Number of requests after which the run advances the clock by `advanceMs`. */
const rowsPerAdvance = 8;
/**
 * A quarter of a minute plus two seconds. The two seconds shift the requests, so that they fall in every part of a
 * minute.
 */
const advanceMs = 17_000;

/**
 * Returns a function to call before each request. It does nothing without a test clock.
 *
 * Before the first request of each kind of valid key to each endpoint, it lets more than a minute pass, so that this
 * request is the first in its window. Before every eighth request, it lets `advanceMs` pass.
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
