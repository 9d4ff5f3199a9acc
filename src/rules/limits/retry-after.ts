import { rounded } from "../../base/numbers.ts";

/** Minimum `retry_after`, in seconds, for a retry that comes well before its end. */
export const minEarlySeconds = 4;

/** Maximum difference of two reports of the same instant that rounding explains, in seconds. */
export const maxRoundingSeconds = 2;

/** Whether a retry certainly came before the end of `retry_after`. LIM-14 covers such retries. */
export const isWellBefore = (passedAtMostSeconds: number, retryAfterSeconds: number): boolean =>
  passedAtMostSeconds <= retryAfterSeconds - maxRoundingSeconds;

/** Describes the expected refusal of such a retry (LIM-14). */
export const describeEarlyRefusal = (passedSeconds: number, retryAfterSeconds: number): string =>
  `still 429 after ${formatSeconds(passedSeconds)}, as \`retry_after\` was ${retryAfterSeconds}`;

/** Describes the expected admission after the end of `retry_after` (LIM-13). */
export const describeAdmission = (retryAfterSeconds: number): string =>
  `a request is admitted ${retryAfterSeconds} s after the refusal`;

export const formatSeconds = (seconds: number): string => `${rounded(seconds, 1)} s`;
