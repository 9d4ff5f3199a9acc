import { rounded } from "../../base/numbers.ts";

/** Minimum `retry_after`, in seconds, that leaves time to retry well before it has passed. */
export const minEarlySeconds = 4;

/** Maximum difference, in seconds, that rounding may cause between two reports of the same instant. */
export const maxRoundingSeconds = 2;

/** Whether `retry_after` had certainly not passed yet. LIM-14 covers requests that come so early. */
export const isWellBefore = (passedAtMostSeconds: number, retryAfterSeconds: number): boolean =>
  passedAtMostSeconds <= retryAfterSeconds - maxRoundingSeconds;

/** Describes a refusal well before `retry_after` has passed (LIM-14). */
export const describeEarlyRefusal = (passedSeconds: number, retryAfterSeconds: number): string =>
  `still 429 after ${formatSeconds(passedSeconds)}, as \`retry_after\` was ${retryAfterSeconds}`;

/** Describes an admission once `retry_after` has passed (LIM-13). */
export const describeAdmission = (retryAfterSeconds: number): string =>
  `a request is admitted ${retryAfterSeconds} s after the refusal`;

export const formatSeconds = (seconds: number): string => `${rounded(seconds, 1)} s`;
