import type { Sample } from "../../rules/limits/sample.ts";
import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";

let count = 0;

/**
 * What a limiter showed, made by hand: an admitted invoke whose answer took half a millisecond, unless said otherwise. Each is sent a millisecond
 * after the one before it, of whatever test of the process: a test that compares with a clock says when.
 */
export function sample(made: Partial<Sample> = {}): Sample {
  count += 1;
  const { sentMs = count, sentClockMs = 0 } = made;
  return {
    id: `s${count}`,
    kind: "invoke",
    sentMs,
    headMs: sentMs + 0.5,
    endMs: sentMs + 0.5,
    sentClockMs,
    headClockMs: sentClockMs,
    endClockMs: sentClockMs,
    status: 200,
    ...noRateLimitInfo,
    ...made,
  };
}
