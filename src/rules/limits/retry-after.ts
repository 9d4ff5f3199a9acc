import { rounded } from "../../base/numbers.ts";

/** A `retry_after` so short has no time well before it. */
export const minEarlySeconds = 4;

/** What two answers say of one instant may be rounded so far apart. */
export const maxRoundingSeconds = 2;

/** Whether so long after a refusal its `retry_after` was certainly not over (LIM-14). */
export const isWellBefore = (passedAtMostSeconds: number, saidSeconds: number): boolean =>
  passedAtMostSeconds <= saidSeconds - maxRoundingSeconds;

/** What must be so well before `retry_after` is over (LIM-14). */
export const describeEarlyRefusal = (passedSeconds: number, saidSeconds: number): string =>
  `still 429 after ${formatSeconds(passedSeconds)}, as \`retry_after\` was ${saidSeconds}`;

/** What must be so once `retry_after` is over (LIM-13). */
export const describeAdmission = (saidSeconds: number): string =>
  `a request is admitted ${saidSeconds} s after the refusal`;

export const formatSeconds = (seconds: number): string => `${rounded(seconds, 1)} s`;
