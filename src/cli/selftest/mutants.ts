import { formatCount } from "../../base/text.ts";
import { formatNumber } from "../../base/numbers.ts";
import { runMutants } from "../../selftest/mutants/run-mutants.ts";
import { type MutantGroup, type MutantSummary, summariseMutants } from "../../selftest/mutants/summary.ts";
import { exitCodes } from "../exit-codes.ts";

export interface MutantOptions {
  readonly json: boolean;
  readonly verbose: boolean;
  /** `null`: all. */
  readonly sample: number | null;
  readonly seed: number;
}

/** Spoils the evidence of clean runs one step at a time, and prints which step no clause noticed. Resolves to the exit code. */
export async function selftestOfMutants({ json, verbose, sample, seed }: MutantOptions): Promise<number> {
  const startedMs = performance.now();
  const all = summariseMutants(await runMutants({ sample, seed }));
  const summary = sample === null ? all : { ...all, needless: [] };
  const seconds = (performance.now() - startedMs) / 1000;
  const text = json ? `${JSON.stringify({ ...summary, seed, seconds }, null, 2)}\n` : textOf(summary, seconds, verbose);
  process.stdout.write(text);
  return summary.unexplained === 0 && summary.needless.length === 0 ? exitCodes.fine : exitCodes.broken;
}

function textOf(summary: MutantSummary, seconds: number, isVerbose: boolean): string {
  const shown = summary.groups.filter(({ reason }) => isVerbose || reason === null);
  const { wrong, legal, fates, unexplained, sideEffects, needless } = summary;
  return [
    ...shown.flatMap(linesOf),
    "",
    `${formatCount(wrong + legal, "mutant")} in ${seconds.toFixed(1)} s: ${formatNumber(wrong)} wrong, ${formatNumber(legal)} legal`,
    `  wrong   ${formatNumber(fates.killed)} found by a clause that speaks of it, ${formatNumber(fates["killed elsewhere"])} by another alone, ${formatNumber(fates.survived)} by none`,
    `  legal   ${formatNumber(fates.unchanged)} changed no outcome, ${formatNumber(fates.changed)} did`,
    `  of ${formatNumber(sideEffects.judged)} judged by every check, ${formatNumber(sideEffects.alsoRed)} also turned red a clause that does not cover them`,
    ...(isVerbose ? Object.entries(sideEffects.clauses).map(([name, count]) => `          ${name}: ${count}`) : []),
    ...(fates.crashed === 0 ? [] : [`  ${formatCount(fates.crashed, "mutant")} broke a check`]),
    ...needless.map((row) => `needless in docs/trust.md, as nothing survives so: ${row}`),
    unexplained === 0
      ? "every one as it should be, or known with its reason (docs/trust.md)"
      : `${formatNumber(unexplained)} without a reason in docs/trust.md`,
    "",
  ].join("\n");
}

function linesOf({ fate, operator, place, subject, count, example, reason }: MutantGroup): string[] {
  const said = example.said.map((each) => `        ${each}`);
  return [
    `${reason === null ? "WRONG" : "known"} ${fate}: ${operator}, ${subject} of ${place} (${count}; ${example.source}, ${example.id})`,
    ...(reason === null ? said : [`        ${reason}`]),
  ];
}
