import { memoizeByObject } from "../../base/memoize.ts";
import { type Check, filterChecks, type Suite, probesOf } from "../../run/judge/check.ts";
import { formatBreach } from "../../run/judge/finding.ts";
import { type Judgement, type ProbeResults, judgeEvidence } from "../../run/judge/judge-evidence.ts";
import { breachOutcomeByLevel } from "../../spec/clause.ts";
import { clauseOf } from "../../spec/clauses.ts";
import { suites } from "../../suites/all.ts";
import {
  type CleanRun,
  type Mutant,
  type ProbesByEvidenceId,
  probesByIdOf,
  replaceEvidence,
  type Replacement,
} from "./mutant.ts";

/**
 * The result of judging a mutant.
 *
 * - `killed`: a check of a clause in `expects` failed.
 * - `killed elsewhere`: only checks of other clauses failed.
 * - `survived`: the mutant is illegal, but no check failed.
 * - `unchanged`: the mutant is legal, and no check's outcome got worse.
 * - `changed`: the mutant is legal, but a check's outcome got worse.
 * - `crashed`: a check threw an error.
 */
export type MutantStatus = "killed" | "killed elsewhere" | "survived" | "unchanged" | "changed" | "crashed";

export interface MutantTrial {
  readonly mutant: Omit<Mutant, "make">;
  readonly source: string;
  readonly status: MutantStatus;
  /** Checks whose outcome changed, each with its new outcome. Empty if `status` is `killed` or `unchanged`. */
  readonly changes: readonly string[];
  /** Clauses that failed although the mutant was not meant to break them. */
  readonly alsoRed: readonly string[];
  /**
   * `true`: all checks judged the mutant. `false`: the checks of the clauses in `mutant.expects` judged first, and the
   * other checks only if none of these failed.
   */
  readonly isWhole: boolean;
}

interface JudgedCleanRun {
  readonly run: CleanRun;
  readonly probesById: ProbesByEvidenceId;
  readonly outcomes: ReadonlyMap<string, JudgedOutcome>;
}

type JudgedOutcome = "pass" | "fail" | "warning" | "note" | "observed" | "skipped" | "inapplicable" | "error";

/**
 * Judges evidence of a correct server. Mutants later change parts of this evidence.
 *
 * @throws {Error} if a finding is a failure, a warning or an error
 */
export function judgeCleanRun(run: CleanRun): JudgedCleanRun {
  const judgements = judgeEvidence(suites, run.results);
  const outcomes = new Map(judgements.map((each) => [nameOf(each), outcomeOf(each)]));
  const bad = judgements.filter((each) => ["fail", "warning", "error"].includes(outcomeOf(each)));
  if (bad.length > 0)
    throw new Error(`the run of ${run.source} is not clean: ${bad.map(describeJudgement).join("; ")}`);
  return { run, probesById: probesByIdOf(run.results), outcomes };
}

const nameOf = ({ check, instance }: Judgement): string => `${check.id} ${instance ?? ""}`;

function outcomeOf({ check, finding: { kind } }: Judgement): JudgedOutcome {
  if (kind === "holds" || kind === "follows") return "pass";
  if (kind === "unproven") return "skipped";
  if (kind === "noted") return "note";
  return kind === "breach" ? breachOutcomeByLevel[clauseOf(check.clause).level] : kind;
}

/**
 * Judges a mutant by the checks of the clauses in `mutant.expects`. If none of these checks fails, or with `isWhole`,
 * judges the mutant by all checks.
 */
export function tryMutant(clean: JudgedCleanRun, mutant: Mutant, isWhole: boolean): MutantTrial {
  const evidence = mutateEvidence(clean, mutant.make());
  const covering = isWhole ? [] : changedJudgements(clean, evidence, ({ clause }) => mutant.expects.includes(clause));
  const changed = covering.some(isRed) ? covering : changedJudgements(clean, evidence);
  return trialOf(clean, mutant, changed, isWhole);
}

const maxBatchSize = 20;

/** Judges legal mutants in batches. If a batch makes an outcome worse, judges the batch's mutants one by one. */
export const tryLegalMutants = (clean: JudgedCleanRun, mutants: readonly Mutant[]): MutantTrial[] =>
  batchesOf(mutants, maxBatchSize).flatMap((batch) => {
    const changed = changedJudgements(clean, mutateEvidence(clean, batch.replacement));
    return batch.mutants.map((each) =>
      statusOf(each, changed) === "unchanged" ? trialOf(clean, each, [], true) : tryMutant(clean, each, true),
    );
  });

interface MutatedEvidence {
  readonly results: ProbeResults;
  readonly probes: ReadonlySet<string>;
}

function mutateEvidence({ run, probesById }: JudgedCleanRun, replacement: Replacement): MutatedEvidence {
  const ids = [...replacement.exchanges.keys(), ...replacement.deliveries.keys()];
  const holding = new Set(ids.flatMap((id) => [...(probesById.get(id) ?? [])]));
  const results = replaceEvidence(run.results, holding, replacement);
  const probes = new Set([...holding].filter((name) => isChanged(run.results.get(name), results.get(name))));
  return { results, probes };
}

const changedJudgements = (
  { outcomes }: JudgedCleanRun,
  { results, probes }: MutatedEvidence,
  isMeant: (check: Check) => boolean = () => true,
): Judgement[] =>
  judgeEvidence(suitesReading(probes, isMeant), results).filter(
    (each) => outcomeOf(each) !== (outcomes.get(nameOf(each)) ?? "inapplicable"),
  );

function trialOf(
  { run }: JudgedCleanRun,
  mutant: Mutant,
  changed: readonly Judgement[],
  isWhole: boolean,
): MutantTrial {
  const { make: _, ...described } = mutant;
  const status = statusOf(mutant, changed);
  return {
    mutant: described,
    source: run.source,
    status,
    changes: status === "killed" || status === "unchanged" ? [] : changed.map(describeJudgement),
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

const suitesReading = (probes: ReadonlySet<string>, isMeant: (check: Check) => boolean): Suite[] =>
  filterChecks(suites, (each) => isMeant(each) && probeNames(each).some((name) => probes.has(name)));

const isRed = (judgement: Judgement): boolean => judgement.finding.kind === "breach";

function statusOf({ kind, expects }: Mutant, changed: readonly Judgement[]): MutantStatus {
  if (changed.some(({ finding }) => finding.kind === "error")) return "crashed";
  if (kind === "legal") return changed.some(isFalseAlarm) ? "changed" : "unchanged";
  const red = changed.filter(isRed);
  if (red.length === 0) return "survived";
  return red.some(({ check }) => expects.includes(check.clause)) ? "killed" : "killed elsewhere";
}

function isFalseAlarm(judgement: Judgement): boolean {
  const outcome = outcomeOf(judgement);
  return (
    ["fail", "warning"].includes(outcome) ||
    (outcome === "skipped" && clauseOf(judgement.check.clause).level === "must")
  );
}

function describeJudgement(judgement: Judgement): string {
  const { check, instance, finding } = judgement;
  const what =
    finding.kind === "breach" ? formatBreach(finding) : "reason" in finding ? JSON.stringify(finding.reason) : "";
  return `${check.id}${instance === null ? "" : ` (${instance})`}: ${outcomeOf(judgement)}: ${what}`;
}

/** Mutants whose changes are applied together. No two of these mutants change the same exchange or delivery. */
interface MutantBatch {
  readonly mutants: readonly Mutant[];
  readonly replacement: Replacement;
}

export function batchesOf(mutants: readonly Mutant[], maxSize: number): MutantBatch[] {
  const batches: MutantBatch[] = [];
  for (const mutant of mutants) {
    const alone: MutantBatch = { mutants: [mutant], replacement: mutant.make() };
    const at = batches.findIndex((each) => each.mutants.length < maxSize && areIndependent(each, alone));
    const found = batches[at];
    if (found === undefined) batches.push(alone);
    else batches[at] = joinBatches(found, alone);
  }
  return batches;
}

const areIndependent = ({ replacement: one }: MutantBatch, { replacement: other }: MutantBatch): boolean =>
  [...other.exchanges.keys()].every((id) => !one.exchanges.has(id)) &&
  [...other.deliveries.keys()].every((id) => !one.deliveries.has(id));

const joinBatches = (one: MutantBatch, other: MutantBatch): MutantBatch => ({
  mutants: [...one.mutants, ...other.mutants],
  replacement: {
    exchanges: new Map([...one.replacement.exchanges, ...other.replacement.exchanges]),
    deliveries: new Map([...one.replacement.deliveries, ...other.replacement.deliveries]),
  },
});
