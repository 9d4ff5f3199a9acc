import { Command } from "commander";

import { type TableColumn, tableLines, widest } from "../../base/table.ts";
import { clauseIds, clauseOf, levels } from "../../spec/clauses.ts";
import { UsageError } from "../../base/usage-error.ts";

/** `conformance list`: every clause, with its level and its checks. */
export function listCommand(): Command {
  return new Command("list")
    .option("--level <level>", "only clauses of this level: must, should, advisory, gap, policy")
    .option("--json", "as JSON")
    .addHelpText("after", "\nExamples:\n  conformance list --level must\n  conformance list --json | jq '.[].id'")
    .action(async (options: { readonly level?: string; readonly json?: boolean }) => {
      const wanted = options.level;
      if (wanted !== undefined && !levels.some((level) => level === wanted))
        throw new UsageError(`--level is ${JSON.stringify(wanted)}; allowed: ${levels.join(", ")}.`);
      const { catalogue } = await import("../catalogue/of-this-version.ts");
      const rows = clauseIds
        .map((id) => ({ id, ...clauseOf(id), checks: catalogue[id].checks }))
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

/** What the other columns take, and the gaps. */
const besides = 34;

function tableOf(rows: readonly Row[]): string {
  const columns = Math.max(20, (process.stdout.columns ?? 120) - besides);
  const heads: readonly TableColumn[] = [
    { head: "clause", align: "left", width: widest },
    { head: "level", align: "left", width: widest },
    { head: "says", align: "left", width: { kind: "wrapped", columns } },
    { head: "checks", align: "left", width: widest },
  ];
  const cells = rows.map(({ id, level, says, untestable, checks }) => [
    id,
    level,
    says,
    untestable === undefined ? String(checks.length) : "not testable",
  ]);
  return tableLines(heads, cells).join("\n");
}
