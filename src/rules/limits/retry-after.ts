import { rounded } from "../../base/numbers.ts";

/** The shortest `retry_after`, in seconds, that has a time well before its end. */
export const minEarlySeconds = 4;

/** The most, in seconds, that rounding may make two reports of one instant differ. */
export const maxRoundingSeconds = 2;

/** Whether `retry_after` had certainly not passed yet (LIM-14). */
export const isWellBefore = (passedAtMostSeconds: number, saidSeconds: number): boolean =>
  passedAtMostSeconds <= saidSeconds - maxRoundingSeconds;

/** Describes a refusal well before `retry_after` has passed (LIM-14). */
export const describeEarlyRefusal = (passedSeconds: number, saidSeconds: number): string =>
  `still 429 after ${formatSeconds(passedSeconds)}, as \`retry_after\` was ${saidSeconds}`;

/** Describes an admission once `retry_after` has passed (LIM-13). */
export const describeAdmission = (saidSeconds: number): string =>
  `a request is admitted ${saidSeconds} s after the refusal`;

export const formatSeconds = (seconds: number): string => `${rounded(seconds, 1)} s`;
