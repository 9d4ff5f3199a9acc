import type { Fate, WireTrial } from "./trial.ts";
import { survivalReason } from "./survivors.ts";

/** The mutants of one class, and how many of them had each result. */
export interface ClassRow {
  readonly name: string;
  readonly killed: number;
  readonly survived: number;
  readonly notVisited: number;
}

/** The results of all mutants. */
export interface WireSummary {
  readonly fates: Readonly<Record<Fate, number>>;
  /** Illegal mutants, by the kind of their condition. */
  readonly byCondition: readonly ClassRow[];
  /** Illegal mutants, by the kind of their operation. */
  readonly byOperation: readonly ClassRow[];
  /** The share of illegal mutants that were killed, in percent. `null` if there were none. */
  readonly killedPercent: number | null;
  /** The same share, but only for conditions about properties that are not among the dimensions. */
  readonly killedPercentOfPeculiar: number | null;
  /** Number of survivors that no row of survivors.ts excuses. */
  readonly unexplained: number;
}

export function summariseWire(trials: readonly WireTrial[]): WireSummary {
  const illegal = trials.filter(({ mutant }) => mutant.kind === "illegal");
  return {
    fates: {
      killed: count(trials, "killed"),
      survived: count(trials, "survived"),
      "not visited": count(trials, "not visited"),
      passed: count(trials, "passed"),
      flagged: count(trials, "flagged"),
      broken: count(trials, "broken"),
    },
    byCondition: rowsBy(illegal, ({ mutant }) => mutant.conditionClass),
    byOperation: rowsBy(illegal, ({ mutant }) => mutant.operation.class),
    killedPercent: percentKilled(illegal),
    killedPercentOfPeculiar: percentKilled(illegal.filter(({ mutant }) => !mutant.isDimensional)),
    unexplained: illegal.filter((trial) => isSurvivor(trial) && survivalReason(trial) === null).length,
  };
}

export const isSurvivor = ({ fate }: Pick<WireTrial, "fate">): boolean => fate === "survived" || fate === "not visited";

const count = (trials: readonly WireTrial[], fate: Fate): number => trials.filter((each) => each.fate === fate).length;

function rowsBy(trials: readonly WireTrial[], nameOf: (trial: WireTrial) => string): ClassRow[] {
  return [...Map.groupBy(trials, nameOf)]
    .map(([name, members]) => ({
      name,
      killed: count(members, "killed"),
      survived: count(members, "survived"),
      notVisited: count(members, "not visited"),
    }))
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

const percentKilled = (illegal: readonly WireTrial[]): number | null =>
  illegal.length === 0 ? null : Math.floor((1000 * count(illegal, "killed")) / illegal.length) / 10;
