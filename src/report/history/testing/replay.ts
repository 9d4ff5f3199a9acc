import { defaultRegressionRules } from "../../compare/regression-rules.ts";
import { type NightJudgement, judgeNight, reportedByNight, loadsToConfirm } from "../gate/judge-night.ts";
import type { Night } from "../night.ts";
import type { SimulatedNight } from "./simulated.ts";

export interface Replayed {
  readonly nights: readonly Night[];
  readonly judgements: readonly NightJudgement[];
  /** How often load was sent a second time. */
  readonly seconds: number;
}

/** Lives through a history night by night, as the command does: suspects, second runs, judgement, entry. */
export function replay(simulated: readonly SimulatedNight[]): Replayed {
  const nights: Night[] = [];
  const judgements: NightJudgement[] = [];
  let seconds = 0;
  for (const { night: first, secondOf } of simulated) {
    const second = secondOf(loadsToConfirm(nights, first));
    seconds += second.length;
    const night = { ...first, second };
    const judgement = judgeNight(nights, night, defaultRegressionRules);
    judgements.push(judgement);
    nights.push({ ...night, reported: reportedByNight(judgement) });
  }
  return { nights, judgements, seconds };
}
