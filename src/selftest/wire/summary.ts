import type { WireMutantStatus, WireTrial } from "./trial.ts";
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
  readonly countByStatus: Readonly<Record<WireMutantStatus, number>>;
  /** Illegal mutants, by the kind of their condition. */
  readonly byCondition: readonly ClassRow[];
  /** Illegal mutants, by the kind of their mutation. */
  readonly byMutation: readonly ClassRow[];
  /** The share of illegal mutants that were killed, in percent. `null` if there were none. */
  readonly killedPercent: number | null;
  /** The same share, of the mutants whose condition has an extra property or a number rule. */
  readonly killedPercentOfExtraProperties: number | null;
  /** Number of survivors that no row of survivors.ts excuses. */
  readonly unexplained: number;
}

export function summariseWire(trials: readonly WireTrial[]): WireSummary {
  const illegal = trials.filter(({ mutant }) => mutant.kind === "illegal");
  return {
    countByStatus: {
      killed: count(trials, "killed"),
      survived: count(trials, "survived"),
      "not visited": count(trials, "not visited"),
      passed: count(trials, "passed"),
      flagged: count(trials, "flagged"),
      broken: count(trials, "broken"),
    },
    byCondition: rowsBy(illegal, ({ mutant }) => mutant.conditionClass),
    byMutation: rowsBy(illegal, ({ mutant }) => mutant.mutation.class),
    killedPercent: percentKilled(illegal),
    killedPercentOfExtraProperties: percentKilled(illegal.filter(({ mutant }) => !mutant.isDimensional)),
    unexplained: illegal.filter((trial) => isSurvivor(trial) && survivalReason(trial) === null).length,
  };
}

export const isSurvivor = ({ status }: Pick<WireTrial, "status">): boolean =>
  status === "survived" || status === "not visited";

const count = (trials: readonly WireTrial[], status: WireMutantStatus): number =>
  trials.filter((each) => each.status === status).length;

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
