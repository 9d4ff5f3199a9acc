import { looseAfterZeroRemaining, looseMinute, type LooseLimit, type Situation } from "./sensitivity.ts";

/** The smallest number of admitted requests that a run detects, by tier and situation. A test computes them again. */
export interface SensitivityResults {
  readonly looseness: LooseLimit;
  readonly found: Readonly<Record<"free" | "pro", Readonly<Record<Situation, number>>>>;
}

export const minuteResults: SensitivityResults = {
  looseness: looseMinute,
  found: {
    free: { "one key, a real clock": 23, "a fresh key, a real clock": 23, "a test clock": 21 },
    pro: { "one key, a real clock": 221, "a fresh key, a real clock": 221, "a test clock": 201 },
  },
};

export const zeroRemainingResults: SensitivityResults = {
  looseness: looseAfterZeroRemaining,
  found: {
    free: { "one key, a real clock": 22, "a fresh key, a real clock": 16, "a test clock": 11 },
    pro: { "one key, a real clock": 151, "a fresh key, a real clock": 151, "a test clock": 102 },
  },
};
