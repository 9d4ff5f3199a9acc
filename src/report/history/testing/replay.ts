import { defaultRegressionRules } from "../../compare/regression-rules.ts";
import { type NightJudgement, judgeNight, reportedByNight, loadsToConfirm } from "../gate/judge-night.ts";
import type { Night } from "../night.ts";
import type { SimulatedNight } from "./simulate-nights.ts";

export interface ReplayedHistory {
  readonly nights: readonly Night[];
  readonly judgements: readonly NightJudgement[];
  /** Number of second runs that the judgements requested. */
  readonly confirmations: number;
}

/** Replays simulated nights one by one, like `conformance nightly`: first runs, second runs, judgement, history entry. */
export function replayNights(simulated: readonly SimulatedNight[]): ReplayedHistory {
  const nights: Night[] = [];
  const judgements: NightJudgement[] = [];
  let confirmations = 0;
  for (const { night: first, confirmationRuns } of simulated) {
    const second = confirmationRuns(loadsToConfirm(nights, first));
    confirmations += second.length;
    const night = { ...first, second };
    const judgement = judgeNight(nights, night, defaultRegressionRules);
    judgements.push(judgement);
    nights.push({ ...night, reported: reportedByNight(judgement) });
  }
  return { nights, judgements, confirmations };
}
