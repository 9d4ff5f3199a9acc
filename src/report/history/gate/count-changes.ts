import { sanitizeLine } from "../../../base/sanitize.ts";
import { trialIdText, type Night, type NightLoad, countsCaveat } from "../night.ts";
import type { TrialId } from "../../model/load-results.ts";

export interface CountChange {
  readonly load: TrialId;
  readonly count: "failed" | "unanswered" | "admitted" | "refused";
  readonly was: number;
  readonly is: number;
  /** `false` if a lost response or the end of a rate-limit window could explain the change. */
  readonly isCertain: boolean;
}

const maxEarlierRuns = 14;
/** A failed request counts as a change only after this many runs without failed requests. */
const minCleanRuns = 3;
/**
 * After this many runs with equal numbers of admitted requests, a different number counts as a change. The same applies
 * to refused requests.
 */
const minConstantRuns = 10;

export function countChangesOf(history: readonly Night[], tonight: Night): CountChange[] {
  return tonight.load.flatMap((run) => countChangesOfRun(run, earlierRunsOf(history, run)));
}

const earlierRunsOf = (history: readonly Night[], name: TrialId): NightLoad[] =>
  history
    .flatMap(({ load }) =>
      load.filter((each) => trialIdText(each) === trialIdText(name) && countsCaveat(each) === null),
    )
    .slice(-maxEarlierRuns);

function countChangesOfRun(run: NightLoad, before: readonly NightLoad[]): CountChange[] {
  if (countsCaveat(run) !== null) return [];
  const { scenario, tier, engine, requests } = run;
  const load = { scenario, tier, engine };
  const newFailures = (["failed", "unanswered"] as const).flatMap((count): CountChange[] => {
    const isClean = before.length >= minCleanRuns && before.every((each) => each.requests[count] === 0);
    if (!isClean || requests[count] === 0) return [];
    return [{ load, count, was: 0, is: requests[count], isCertain: count === "failed" }];
  });
  // If there are new failures, skips `admitted` and `refused`. Failed requests change these counts, too.
  return newFailures.length > 0
    ? newFailures
    : (["admitted", "refused"] as const).flatMap((count) => constantCountChange(run, before, count));
}

function constantCountChange(
  run: NightLoad,
  before: readonly NightLoad[],
  count: "admitted" | "refused",
): CountChange[] {
  const { scenario, tier, engine, requests } = run;
  const alike = before.filter((each) => each.requests.sent === requests.sent);
  const was = alike.at(-1)?.requests[count];
  const isConstant = alike.length >= minConstantRuns && alike.every((each) => each.requests[count] === was);
  if (!isConstant || was === undefined || was === requests[count]) return [];
  return [{ load: { scenario, tier, engine }, count, was, is: requests[count], isCertain: false }];
}

export function isConfirmed({ load, count, was, is }: CountChange, { second }: Night): boolean {
  return second.some((each) => {
    if (trialIdText(each) !== trialIdText(load) || countsCaveat(each) !== null) return false;
    return Math.sign(each.requests[count] - was) === Math.sign(is - was);
  });
}

const countTexts = {
  failed: "responses failed (neither admitted nor refused)",
  unanswered: "requests got no response",
  admitted: "requests were admitted",
  refused: "requests were refused",
} as const;

export const formatCountChange = ({ load, count, was, is }: CountChange): string =>
  `load ${sanitizeLine(trialIdText(load), 80)}: ${is} ${countTexts[count]}, and ${was === 0 ? "none" : was} on every night before`;
