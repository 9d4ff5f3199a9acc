import type { LimiterShape } from "./models.ts";
import type { LimiterReading } from "./judge.ts";

/** The limiters that a history leaves possible where the document is silent. Each list is in the order of `LimiterShape`. */
export interface PossibleShapes {
  readonly hour: readonly LimiterShape[];
  readonly minute: readonly LimiterShape[];
  /** Whether the burst allowance comes on top of the minute's number: the values still possible. */
  readonly burstAdds: readonly boolean[];
  /** Whether refused requests count: the values still possible. */
  readonly refusalsCount: readonly boolean[];
}

/** Collects the shapes of the readings that explain a history. */
export function possibleShapes(readings: readonly LimiterReading[]): PossibleShapes {
  return {
    hour: distinct(readings.flatMap((reading) => reading.hour)),
    minute: distinct(readings.flatMap((reading) => reading.minute.map(({ shape }) => shape))),
    burstAdds: distinct(readings.flatMap((reading) => reading.minute.map(({ burstAdds }) => burstAdds))),
    refusalsCount: distinct(readings.map((reading) => reading.refusalsCount)),
  };
}

/** Says whether refused requests use up the allowance (LIM-16). */
export function describeRefusalCounting({ refusalsCount }: Pick<PossibleShapes, "refusalsCount">): string {
  if (refusalsCount.length > 1)
    return "refused requests may or may not use up the allowance: both explain what was seen";
  return `refused requests ${refusalsCount[0] === true ? "use" : "do not use"} up the allowance`;
}

const distinct = <T>(values: readonly T[]): T[] => [...new Set(values)];
