import { sanitizeLine } from "../../../base/sanitize.ts";
import { type LoadName, trialKey, type Night, type NightLoad, countsCaveat } from "../night.ts";

/** A count that was the same on every night before, and is another tonight. */
export interface CountChange {
  readonly load: LoadName;
  readonly count: "failed" | "unanswered" | "admitted" | "refused";
  readonly was: number;
  readonly is: number;
  /** Whether one run is proof enough. The network loses an answer, and a window may end in the middle of a run. */
  readonly isCertain: boolean;
}

const memoryNights = 14;
/** How many nights it takes before no failures, or always the same number, are what is usual. */
const leastClean = 3;
const leastConstant = 10;

/** Exact counts that changed tonight: answers that failed where none ever did, and numbers that were the same on every night before. */
export function countChangesOf(history: readonly Night[], tonight: Night): CountChange[] {
  return tonight.load.flatMap((run) => changesOf(run, runsOf(history, run)));
}

const runsOf = (history: readonly Night[], name: LoadName): NightLoad[] =>
  history
    .flatMap(({ load }) => load.filter((each) => trialKey(each) === trialKey(name) && countsCaveat(each) === null))
    .slice(-memoryNights);

function changesOf(run: NightLoad, before: readonly NightLoad[]): CountChange[] {
  if (countsCaveat(run) !== null) return [];
  const { scenario, tier, engine, requests } = run;
  const load = { scenario, tier, engine };
  const rose = (["failed", "unanswered"] as const).flatMap((count): CountChange[] => {
    const isClean = before.length >= leastClean && before.every((each) => each.requests[count] === 0);
    if (!isClean || requests[count] === 0) return [];
    return [{ load, count, was: 0, is: requests[count], isCertain: count === "failed" }];
  });
  // Answers that failed are missing among the admitted: the same change is not reported twice.
  return rose.length > 0 ? rose : (["admitted", "refused"] as const).flatMap((count) => moved(run, before, count));
}

function moved(run: NightLoad, before: readonly NightLoad[], count: "admitted" | "refused"): CountChange[] {
  const { scenario, tier, engine, requests } = run;
  const alike = before.filter((each) => each.requests.sent === requests.sent);
  const was = alike.at(-1)?.requests[count];
  const isConstant = alike.length >= leastConstant && alike.every((each) => each.requests[count] === was);
  if (!isConstant || was === undefined || was === requests[count]) return [];
  return [{ load: { scenario, tier, engine }, count, was, is: requests[count], isCertain: false }];
}

/** Whether the second run of the night shows the same. */
export function isConfirmed({ load, count, was, is }: CountChange, { second }: Night): boolean {
  return second.some((each) => {
    if (trialKey(each) !== trialKey(load) || countsCaveat(each) !== null) return false;
    return Math.sign(each.requests[count] - was) === Math.sign(is - was);
  });
}

const words = {
  failed: "answers failed (neither admitted nor refused)",
  unanswered: "requests got no answer",
  admitted: "requests were admitted",
  refused: "requests were refused",
} as const;

/** One sentence without a full stop. */
export const countText = ({ load, count, was, is }: CountChange): string =>
  `load ${sanitizeLine(trialKey(load), 80)}: ${is} ${words[count]}, and ${was === 0 ? "none" : was} on every night before`;
