import Table from "cli-table3";
import { Command } from "commander";

import { clauseIds, clauseOf, levels } from "../../interface/clauses.ts";
import { suites } from "../../suites/all.ts";
import { UsageProblem } from "../../target/problem.ts";
import { checksOf } from "../catalogue.ts";

/** `conformance list`: every clause, with its level and its checks. */
export function listCommand(): Command {
  return new Command("list")
    .description("List the clauses of the interface, and the checks of each.")
    .option("--level <level>", "only clauses of this level: must, should, advisory, gap, policy")
    .option("--json", "as JSON")
    .addHelpText("after", "\nExamples:\n  conformance list --level must\n  conformance list --json | jq '.[].id'")
    .action((options: { readonly level?: string; readonly json?: boolean }) => {
      const wanted = options.level;
      if (wanted !== undefined && !levels.some((level) => level === wanted))
        throw new UsageProblem(`--level is ${JSON.stringify(wanted)}; allowed: ${levels.join(", ")}.`);
      const rows = clauseIds
        .map((id) => ({ id, ...clauseOf(id), checks: checksOf(suites, id).map((check) => check.id) }))
        .filter(({ level }) => wanted === undefined || level === wanted);
      process.stdout.write(options.json === true ? `${JSON.stringify(rows, null, 2)}\n` : `${tableOf(rows)}\n`);
    });
}

interface Row {
  readonly id: string;
  readonly level: string;
  readonly says: string;
  readonly untestable?: string;
  readonly checks: readonly string[];
}

function tableOf(rows: readonly Row[]): string {
  // What is left beside the other columns and the lines between all.
  const width = Math.max(20, (process.stdout.columns ?? 120) - 39);
  const table = new Table({
    head: ["clause", "level", "says", "checks"],
    style: { head: [], border: [], compact: true },
    colWidths: [10, 10, width, 14],
    wordWrap: true,
  });
  for (const { id, level, says, untestable, checks } of rows)
    table.push([id, level, says, untestable === undefined ? String(checks.length) : "not testable"]);
  return table.toString();
}
