import type { TierLimits } from "../interface/tiers.ts";
import type { Shape } from "./families.ts";
import type { History, JudgeOptions } from "./history.ts";
import { decide } from "./judge.ts";

/** What a history leaves possible where the document is silent; each list in the order of `Shape`. */
export interface PossibleShapes {
  readonly hour: readonly Shape[];
  readonly minute: readonly Shape[];
  /** Whether the burst allowance comes on top of the minute's number: the answers still possible. */
  readonly burstAdds: readonly boolean[];
  /** Whether refused requests use up the allowance: the answers still possible. */
  readonly refusalsCount: readonly boolean[];
}

/** The shapes that explain a history, or `null` where it is a breach. */
export function inferShape(history: History, limits: TierLimits, options: JudgeOptions = {}): PossibleShapes | null {
  const verdict = decide(history, limits, options, true);
  if (verdict.kind === "breach") return null;
  const { readings } = verdict;
  return {
    hour: distinct(readings.flatMap((reading) => reading.hour)),
    minute: distinct(readings.flatMap((reading) => reading.minute.map(({ shape }) => shape))),
    burstAdds: distinct(readings.flatMap((reading) => reading.minute.map(({ burstAdds }) => burstAdds))),
    refusalsCount: distinct(readings.map((reading) => reading.refusalsCount)),
  };
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
