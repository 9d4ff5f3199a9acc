import { rounded } from "../base/numbers.ts";

/** A `retry_after` so short has no time well before it. */
export const leastEarlySeconds = 4;

/** What two answers say of one instant may be rounded so far apart. */
export const mostRoundingSeconds = 2;

/** Whether so long after a refusal its `retry_after` was certainly not over (LIM-14). */
export const isWellBefore = (passedAtMostSeconds: number, saidSeconds: number): boolean =>
  passedAtMostSeconds <= saidSeconds - mostRoundingSeconds;

/** What must be so well before `retry_after` is over (LIM-14). */
export const refusedBefore = (passedSeconds: number, saidSeconds: number): string =>
  `still 429 after ${secondsText(passedSeconds)}, as \`retry_after\` was ${saidSeconds}`;

/** What must be so once `retry_after` is over (LIM-13). */
export const admittedAfter = (saidSeconds: number): string =>
  `a request is admitted ${saidSeconds} s after the refusal`;

export const secondsText = (seconds: number): string => `${rounded(seconds, 1)} s`;
