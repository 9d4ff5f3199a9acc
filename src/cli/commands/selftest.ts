import { Command } from "commander";

import { withSteps } from "../command.ts";
import { appendValue, readCount } from "../option-parsers.ts";
import { selftest, type SelftestOptions } from "../selftest/modes.ts";

const countOf =
  (flag: string) =>
  (text: string): number =>
    readCount(text, flag);

/** `conformance selftest`: proves that each check can fail, and that each legal behaviour of a server passes. */
export function selftestCommand(): Command {
  const command = new Command("selftest")
    .option("--only <pattern>", "only patches whose name or clause matches the glob (repeatable)", appendValue, [])
    .option(
      "--full",
      "use up the limits of tiers for every patch, and of every tier where it concerns limits (otherwise of free and enterprise, there alone)",
    )
    .option(
      "--load",
      "instead: send load to each fault that only load can show, with every installed engine, and to the server without one",
    )
    .option(
      "--seeds <count>",
      "instead: servers of ten and more legal behaviours at once, drawn by this many seeds; none may turn red",
      countOf("--seeds"),
    )
    .option(
      "--mutants",
      "instead: change the evidence of clean runs one step at a time; a clause must notice every wrong change, and none a legal one",
    )
    .option("--sample <count>", "only this many mutants, drawn by the seed", countOf("--sample"))
    .option(
      "--wire",
      "instead: servers that behave otherwise under a condition, drawn by the seed, behind a proxy; a clause must notice every wrong one, and none a legal one",
    )
    .option("--count <count>", "with --wire: this many such servers", countOf("--count"), 40)
    .option(
      "--mutant <number>",
      "with --wire: only the server with this number, with all that it shows",
      countOf("--mutant"),
    )
    .option("--seed <number>", "the first of the seeds, or what draws the sample or the servers", countOf("--seed"), 1)
    .option("--verbose", "findings of each red check; of mutants, also those that are known to survive")
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  conformance selftest\n  conformance selftest --only 'SSE-*' --verbose\n  conformance selftest --load\n  conformance selftest --seeds 50 --seed 7\n  conformance selftest --mutants\n  conformance selftest --mutants --sample 1000 --seed 7\n  conformance selftest --wire --count 1000 --seed 7\n  conformance selftest --wire --seed 7 --mutant 12",
    );
  return withSteps(command, {
    prepare: (options: SelftestOptions) => options,
    act: selftest,
    present: (exitCode) => exitCode,
  });
}
