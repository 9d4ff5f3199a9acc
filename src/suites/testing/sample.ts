import type { Sample } from "../../rules/limits/sample.ts";
import { noRateLimitInfo } from "../../rules/limits/rate-limit-info.ts";

let count = 0;

/** Builds a sample: by default an admitted invoke of half a millisecond, sent a millisecond after the previous one. */
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
