import { rounded } from "../../base/numbers.ts";

/** The shortest `retry_after`, in seconds, for which a retry can be sent well before its end. */
export const minEarlySeconds = 4;

/** The most, in seconds, that rounding may make two reports of one instant differ. */
export const maxRoundingSeconds = 2;

/** Whether `retry_after` had certainly not passed yet (LIM-14). */
export const isWellBefore = (passedAtMostSeconds: number, retryAfterSeconds: number): boolean =>
  passedAtMostSeconds <= retryAfterSeconds - maxRoundingSeconds;

/** Describes a refusal well before `retry_after` has passed (LIM-14). */
export const describeEarlyRefusal = (passedSeconds: number, retryAfterSeconds: number): string =>
  `still 429 after ${formatSeconds(passedSeconds)}, as \`retry_after\` was ${retryAfterSeconds}`;

/** Describes an admission once `retry_after` has passed (LIM-13). */
export const describeAdmission = (retryAfterSeconds: number): string =>
  `a request is admitted ${retryAfterSeconds} s after the refusal`;

export const formatSeconds = (seconds: number): string => `${rounded(seconds, 1)} s`;
