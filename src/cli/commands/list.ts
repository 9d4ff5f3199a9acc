import Table from "cli-table3";
import { Command } from "commander";

import { clauseIds, clauseOf } from "../../interface/clauses.ts";
import { suites } from "../../suites/all.ts";
import { checksOf } from "../catalogue.ts";

/** `conformance list`: every clause, with its level and its checks. */
export function listCommand(): Command {
  return new Command("list")
    .description("List the clauses of the interface, and the checks of each.")
    .option("--level <level>", "only clauses of this level: must, should, advisory, gap, policy")
    .option("--json", "as JSON")
    .addHelpText("after", "\nExamples:\n  conformance list --level must\n  conformance list --json | jq '.[].id'")
    .action((options: { readonly level?: string; readonly json?: boolean }) => {
      const rows = clauseIds
        .map((id) => ({ id, ...clauseOf(id), checks: checksOf(suites, id).map((check) => check.id) }))
        .filter(({ level }) => options.level === undefined || level === options.level);
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
  const width = Math.max(60, (process.stdout.columns ?? 120) - 34);
  const table = new Table({
    head: ["clause", "level", "says", "checks"],
    style: { head: [], border: [], compact: true },
    colWidths: [10, 10, width - 6, 14],
    wordWrap: true,
  });
  for (const { id, level, says, untestable, checks } of rows)
    table.push([id, level, says, untestable === undefined ? String(checks.length) : "not testable"]);
  return table.toString();
}
