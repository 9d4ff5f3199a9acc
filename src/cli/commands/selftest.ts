import { Command } from "commander";

import type { Patch } from "../../reference/patch.ts";
import { collect } from "../option-parsers.ts";
import { suiteFaults, allVariants } from "../../reference/catalogue.ts";
import { globOf } from "../../base/glob.ts";
import { complaintsOf, type PatchTrial } from "../../selftest/trial.ts";
import { tryPatches } from "../../selftest/run-patches.ts";
import { formatCount } from "../../base/text.ts";
import { UsageError } from "../../base/usage-error.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { readCount } from "../option-parsers.ts";
import { selftestBySeeds } from "../selftest/seeds.ts";
import { selftestOfMutants } from "../selftest/mutants.ts";
import { selftestUnderLoad } from "../selftest/load.ts";

interface SelftestOptions {
  readonly only: readonly string[];
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly full?: boolean;
  readonly load?: boolean;
  readonly seeds?: number;
  readonly mutants?: boolean;
  readonly sample?: number;
  readonly seed: number;
}

const countOf =
  (flag: string) =>
  (text: string): number =>
    readCount(text, flag);

/** `conformance selftest`: proves that each check can fail, and that each legal behaviour passes. */
export function selftestCommand(): Command {
  const command = new Command("selftest")
    .option("--only <pattern>", "only patches whose name or clause matches the glob (repeatable)", collect, [])
    .option(
      "--full",
      "use up the limits of tiers for every patch, and of every tier where it concerns limits (otherwise of free and enterprise, there alone)",
    )
    .option(
      "--load",
      "instead: load on each fault that pressure shows, by every engine that is here, and on the server without one",
    )
    .option(
      "--seeds <count>",
      "instead: servers of ten and more legal behaviours at once, drawn by so many seeds; none may turn red",
      countOf("--seeds"),
    )
    .option(
      "--mutants",
      "instead: spoil the evidence of clean runs one step at a time; a clause must notice every wrong step, and none a legal one",
    )
    .option("--sample <count>", "of the mutants only so many, drawn by the seed", countOf("--sample"))
    .option("--seed <number>", "the first of the seeds, or what draws the sample", countOf("--seed"), 1)
    .option("--verbose", "what each red check said; of mutants, also those that are known to live")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  conformance selftest\n  conformance selftest --only 'SSE-*' --verbose\n  conformance selftest --load\n  conformance selftest --seeds 50 --seed 7\n  conformance selftest --mutants\n  conformance selftest --mutants --sample 1000 --seed 7",
    );
  return withSteps(command, { prepare: (options: SelftestOptions) => options, act, present: (code) => code });
}

/** Runs the chosen kind of self-test. Prints a row for each trial. Resolves to the exit code. */
function act(options: SelftestOptions): Promise<number> {
  const { json = false, verbose = false, sample = null, seed, seeds } = options;
  if (options.load === true) return selftestUnderLoad(options);
  if (options.mutants === true) return selftestOfMutants({ json, verbose, sample, seed });
  if (seeds !== undefined) return selftestBySeeds({ ...options, seeds });
  return selftestOfPatches(options);
}

async function selftestOfPatches({ only, full, json = false, verbose = false }: SelftestOptions): Promise<number> {
  const trials = await tryPatches(choose(only), full === true ? "full" : "short", (trial) => {
    if (!json) process.stdout.write(rowOf(trial, verbose));
  });
  const wrong = trials.filter((trial) => complaintsOf(trial).length > 0);
  process.stdout.write(json ? `${JSON.stringify(trials, null, 2)}\n` : summaryOf(trials, wrong.length));
  return wrong.length === 0 ? exitCodes.fine : exitCodes.broken;
}

function choose(only: readonly string[]): readonly Patch[] {
  const patches = [...suiteFaults, ...allVariants];
  if (only.length === 0) return patches;
  const globs = only.map(globOf);
  const chosen = patches.filter(({ name, breaks }) =>
    globs.some((glob) => [name, ...breaks].some((text) => glob(text))),
  );
  if (chosen.length === 0) throw new UsageError(`--only ${only.join(" ")} matches no fault, variant or clause.`);
  return chosen;
}

function rowOf(trial: PatchTrial, isVerbose: boolean): string {
  const complaints = complaintsOf(trial);
  const mark = complaints.length === 0 ? "ok   " : "WRONG";
  const red = trial.redChecks.join(", ");
  const shows = trial.kind === "fault" ? `turns red: ${red}` : red === "" ? "passes" : `passes, with a note: ${red}`;
  const details = [
    ...complaints.map((text) => `        ${text}`),
    ...(isVerbose ? trial.said.map((text) => `        ${text}`) : []),
  ];
  return [`${mark} ${trial.kind.padEnd(8)} ${trial.name.padEnd(40)} ${shows}`, ...details, ""].join("\n");
}

function summaryOf(trials: readonly PatchTrial[], wrong: number): string {
  const count = (kind: PatchTrial["kind"]): string =>
    formatCount(trials.filter((trial) => trial.kind === kind).length, kind);
  const verdict =
    wrong === 0 ? "every fault is caught by exactly what it breaks, every variant passes" : `${wrong} wrong`;
  return `\n${count("fault")}, ${count("variant")}: ${verdict}\n`;
}
