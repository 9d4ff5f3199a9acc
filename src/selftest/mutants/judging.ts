import { memoizeByObject } from "../../base/memoize.ts";
import { type Check, type Suite, probesOf } from "../../run/judge/check.ts";
import { formatBreach } from "../../run/judge/finding.ts";
import { type Judgement, type ProbeResults, judgeAll } from "../../run/judge/judge.ts";
import { breachOutcomeByLevel } from "../../spec/clause.ts";
import { clauseOf } from "../../spec/clauses.ts";
import { suites } from "../../suites/all.ts";
import type { CleanRun } from "./clean-run.ts";
import type { Mutant, Replacement } from "./mutant.ts";
import { type ProbesById, probesByIdOf, replaceEvidence } from "./replacing.ts";

/**
 * What became of a mutant.
 *
 * - `killed`: a wrong one turned red a clause that speaks of it.
 * - `killed elsewhere`: a wrong one turned red none of those, but another.
 * - `survived`: a wrong one turned nothing red.
 * - `unchanged`: a legal one changed no outcome.
 * - `changed`: a legal one did.
 * - `crashed`: a check failed by itself.
 */
export type MutantStatus = "killed" | "killed elsewhere" | "survived" | "unchanged" | "changed" | "crashed";

export interface MutantTrial {
  readonly mutant: Omit<Mutant, "make">;
  readonly source: string;
  readonly status: MutantStatus;
  /** Where the fate is not as it should be: the checks whose outcome is another one than the clean run's, and what they said. */
  readonly changes: readonly string[];
  /** Of a wrong one, clauses that turned red besides those that speak of it. */
  readonly alsoRed: readonly string[];
  /** Whether it was judged by every check that it concerns. */
  readonly isWhole: boolean;
}

/** The checks by the probes that they rest on, and what they said of a clean run. */
export interface JudgedCleanRun {
  readonly run: CleanRun;
  readonly probesById: ProbesById;
  readonly outcomes: ReadonlyMap<string, Outcome>;
}

type Outcome = "pass" | "fail" | "warning" | "note" | "observed" | "skipped" | "inapplicable" | "error";

/**
 * Judges a clean run as it is.
 *
 * @throws {Error} where it is not clean
 */
export function judgeCleanRun(run: CleanRun): JudgedCleanRun {
  const judgements = judgeAll(suites, run.results);
  const outcomes = new Map(judgements.map((each) => [nameOf(each), outcomeOf(each)]));
  const bad = judgements.filter((each) => ["fail", "warning", "error"].includes(outcomeOf(each)));
  if (bad.length > 0) throw new Error(`the run of ${run.source} is not clean: ${bad.map(saidBy).join("; ")}`);
  return { run, probesById: probesByIdOf(run.results), outcomes };
}

const nameOf = ({ check, instance }: Judgement): string => `${check.id} ${instance ?? ""}`;

function outcomeOf({ check, finding: { kind } }: Judgement): Outcome {
  if (kind === "holds" || kind === "follows") return "pass";
  if (kind === "unproven") return "skipped";
  return kind === "breach" ? breachOutcomeByLevel[clauseOf(check.clause).level] : kind;
}

/**
 * Judges a mutant by the checks whose evidence it changes.
 *
 * @param isWhole of a wrong one, too, by all of them, and not only by those that speak of it where one of these turns red
 */
export function tryMutant(bench: JudgedCleanRun, mutant: Mutant, isWhole: boolean): MutantTrial {
  const evidence = spoilt(bench, mutant.make());
  const spoken = isWhole ? [] : changedIn(bench, evidence, ({ clause }) => mutant.expects.includes(clause));
  const changed = spoken.some(isRed) ? spoken : changedIn(bench, evidence);
  return trialOf(bench, mutant, changed, isWhole);
}

/** So many legal mutants are judged at once. */
const mostTogether = 20;

/**
 * Judges legal mutants of different answers at once, and one by one where that does harm: nearly all do none, and what one breaks the
 * others do not mend.
 */
export const tryLegal = (bench: JudgedCleanRun, mutants: readonly Mutant[]): MutantTrial[] =>
  batchesOf(mutants, mostTogether).flatMap((batch) => {
    const changed = changedIn(bench, spoilt(bench, batch.replacement));
    return batch.mutants.map((each) =>
      fateOf(each, changed) === "unchanged" ? trialOf(bench, each, [], true) : tryMutant(bench, each, true),
    );
  });

/** The evidence of a run with some of it replaced, and the probes whose evidence that is. */
interface Spoilt {
  readonly results: ProbeResults;
  readonly probes: ReadonlySet<string>;
}

function spoilt({ run, probesById }: JudgedCleanRun, replacement: Replacement): Spoilt {
  const ids = [...replacement.exchanges.keys(), ...replacement.deliveries.keys()];
  const holding = new Set(ids.flatMap((id) => [...(probesById.get(id) ?? [])]));
  const results = replaceEvidence(run.results, holding, replacement);
  const probes = new Set([...holding].filter((name) => isChanged(run.results.get(name), results.get(name))));
  return { results, probes };
}

/** What checks that rest on spoilt evidence say otherwise than of the clean run. */
const changedIn = (
  { outcomes }: JudgedCleanRun,
  { results, probes }: Spoilt,
  isMeant: (check: Check) => boolean = () => true,
): Judgement[] =>
  judgeAll(restingOn(probes, isMeant), results).filter(
    (each) => outcomeOf(each) !== (outcomes.get(nameOf(each)) ?? "inapplicable"),
  );

function trialOf(
  { run }: JudgedCleanRun,
  mutant: Mutant,
  changed: readonly Judgement[],
  isWhole: boolean,
): MutantTrial {
  const { make: _, ...described } = mutant;
  const status = fateOf(mutant, changed);
  return {
    mutant: described,
    source: run.source,
    status,
    changes: status === "killed" || status === "unchanged" ? [] : changed.map(saidBy),
    alsoRed: [...new Set(changed.filter(isRed).map(({ check }) => check.clause))].filter(
      (clause) => !mutant.expects.includes(clause),
    ),
    isWhole,
  };
}

type Entries = ReturnType<CleanRun["results"]["get"]>;

const isChanged = (before: Entries = [], after: Entries = []): boolean =>
  before.some(({ result }, at) => {
    const other = after[at]?.result;
    return result.kind === "ran" && other?.kind === "ran" && result.evidence !== other.evidence;
  });

const probeNames = memoizeByObject((check: Check) => Object.values(probesOf(check.on)).map(({ name }) => name));

const restingOn = (probes: ReadonlySet<string>, isMeant: (check: Check) => boolean): Suite[] =>
  suites.map((suite) => ({
    ...suite,
    checks: suite.checks.filter((each) => isMeant(each) && probeNames(each).some((name) => probes.has(name))),
  }));

const isRed = (judgement: Judgement): boolean => judgement.finding.kind === "breach";

function fateOf({ kind, expects }: Mutant, changed: readonly Judgement[]): MutantStatus {
  if (changed.some(({ finding }) => finding.kind === "error")) return "crashed";
  if (kind === "legal") return changed.some(isHarm) ? "changed" : "unchanged";
  const red = changed.filter(isRed);
  if (red.length === 0) return "survived";
  return red.some(({ check }) => expects.includes(check.clause)) ? "killed" : "killed elsewhere";
}

/** A legal answer may draw a note, and tell less of what is a gap or an advice; nothing more. */
function isHarm(judgement: Judgement): boolean {
  const outcome = outcomeOf(judgement);
  return (
    ["fail", "warning"].includes(outcome) ||
    (outcome === "skipped" && clauseOf(judgement.check.clause).level === "must")
  );
}

function saidBy(judgement: Judgement): string {
  const { check, instance, finding } = judgement;
  const what =
    finding.kind === "breach" ? formatBreach(finding) : "reason" in finding ? JSON.stringify(finding.reason) : "";
  return `${check.id}${instance === null ? "" : ` (${instance})`}: ${outcomeOf(judgement)}: ${what}`;
}

/** Mutants that change different answers and deliveries, and what stands in the place of all of these. */
export interface Batch {
  readonly mutants: readonly Mutant[];
  readonly replacement: Replacement;
}

/** Puts mutants together, of different answers, at most so many in each. */
export function batchesOf(mutants: readonly Mutant[], most: number): Batch[] {
  const batches: Batch[] = [];
  for (const mutant of mutants) {
    const alone: Batch = { mutants: [mutant], replacement: mutant.make() };
    const at = batches.findIndex((each) => each.mutants.length < most && isApart(each, alone));
    const found = batches[at];
    if (found === undefined) batches.push(alone);
    else batches[at] = joined(found, alone);
  }
  return batches;
}

const isApart = ({ replacement: one }: Batch, { replacement: other }: Batch): boolean =>
  [...other.exchanges.keys()].every((id) => !one.exchanges.has(id)) &&
  [...other.deliveries.keys()].every((id) => !one.deliveries.has(id));

const joined = (one: Batch, other: Batch): Batch => ({
  mutants: [...one.mutants, ...other.mutants],
  replacement: {
    exchanges: new Map([...one.replacement.exchanges, ...other.replacement.exchanges]),
    deliveries: new Map([...one.replacement.deliveries, ...other.replacement.deliveries]),
  },
});
