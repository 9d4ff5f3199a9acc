import type { MutantStatus, MutantTrial } from "./judge-mutants.ts";
import { staleRows, type SurvivalReason, survivalReason } from "./survivors.ts";

/** Mutants with the same result, operator, place and subject. */
export interface MutantGroup {
  readonly fate: MutantStatus;
  readonly operator: string;
  readonly place: string;
  readonly subject: string;
  readonly count: number;
  /**
   * The first mutant of the group: the name of its clean run, its exchange or delivery, and the checks that changed.
   */
  readonly example: { readonly source: string; readonly id: string; readonly said: readonly string[] };
  /** Why the result is accepted (see survivors.ts); `null` if it is a defect. */
  readonly reason: SurvivalReason | null;
}

/** The results of all mutants. */
export interface MutantSummary {
  readonly wrong: number;
  readonly legal: number;
  readonly fates: Readonly<Record<MutantStatus, number>>;
  /** Mutants with a wrong result: illegal ones that were not killed, and legal ones that changed an outcome. */
  readonly groups: readonly MutantGroup[];
  /** Number of mutants with a wrong result that no row of survivors.ts excuses. */
  readonly unexplained: number;
  /** Rows of survivors.ts that excuse no mutant. Only meaningful if all mutants were tried. */
  readonly needless: readonly string[];
  /**
   * The illegal mutants that all checks judged: their number, and how many of them turned red a clause that does not
   * cover the change.
   */
  readonly sideEffects: {
    readonly judged: number;
    readonly alsoRed: number;
    readonly clauses: Readonly<Record<string, number>>;
  };
}

const expectedStatuses: readonly MutantStatus[] = ["killed", "unchanged"];

export function summariseMutants(trials: readonly MutantTrial[]): MutantSummary {
  const count = (fate: MutantStatus): number => trials.filter((each) => each.status === fate).length;
  const odd = trials.filter(({ status }) => !expectedStatuses.includes(status));
  const groups = [...Map.groupBy(odd, groupKey).values()].flatMap(groupOf);
  return {
    wrong: trials.filter(({ mutant }) => mutant.kind === "illegal").length,
    legal: trials.filter(({ mutant }) => mutant.kind === "legal").length,
    fates: {
      killed: count("killed"),
      "killed elsewhere": count("killed elsewhere"),
      survived: count("survived"),
      unchanged: count("unchanged"),
      changed: count("changed"),
      crashed: count("crashed"),
    },
    groups,
    needless: staleRows(groups),
    sideEffects: sideEffectsOf(
      trials.filter(({ mutant, isWhole, status }) => mutant.kind === "illegal" && isWhole && status === "killed"),
    ),
    unexplained: groups.filter(({ reason }) => reason === null).reduce((sum, group) => sum + group.count, 0),
  };
}

const sideEffectsOf = (trials: readonly MutantTrial[]): MutantSummary["sideEffects"] => ({
  judged: trials.length,
  alsoRed: trials.filter(({ alsoRed }) => alsoRed.length > 0).length,
  clauses: countsOf(
    trials.flatMap(({ mutant, alsoRed }) => alsoRed.map((clause) => `${clause} by ${mutant.operator}`)),
  ),
});

const countsOf = (names: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    [...Map.groupBy(names, (each) => each)]
      .map(([name, { length }]) => [name, length] as const)
      .toSorted(([, one], [, other]) => other - one),
  );

const groupKey = ({ status, mutant: { operator, place, subject } }: MutantTrial): string =>
  [status, operator, place, subject].join(" | ");

function groupOf(trials: readonly MutantTrial[]): MutantGroup[] {
  const [first] = trials;
  if (first === undefined) return [];
  const { status, mutant, source, changes } = first;
  const { operator, place, subject, id } = mutant;
  return [
    {
      fate: status,
      operator,
      place,
      subject,
      count: trials.length,
      example: { source, id, said: changes },
      reason: survivalReason({ fate: status, operator, place, subject }),
    },
  ];
}
