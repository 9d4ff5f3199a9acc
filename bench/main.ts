import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";

import { Command, InvalidArgumentError } from "commander";

import { projectRoot } from "./measuring/scratch.ts";
import { rows } from "./rows/all.ts";
import { chosenRows } from "./tool/choice.ts";
import {
  type FigureRow,
  figureRow,
  type Figures,
  figuresOf,
  mergedRows,
  readFigures,
  thisMachine,
} from "./tool/figures.ts";
import { measure } from "./tool/measure.ts";
import { withFigures } from "./tool/page.ts";
import { type Row, sizeOf } from "./tool/row.ts";
import { lineOf, machineText, terminalTable } from "./tool/table.ts";

// `npm run bench`: measures each row of the table in docs/performance.md, and its baseline in the same run.

const figuresFile = join(projectRoot, "bench", "figures.json");
const pageFile = join(projectRoot, "docs", "performance.md");

interface Flags {
  readonly only: readonly string[];
  readonly rounds: number;
  readonly scale: number;
  readonly json?: string;
  readonly write?: boolean;
  readonly from?: string;
  readonly list?: boolean;
}

const print = (text: string): void => void process.stdout.write(`${text}\n`);

function positive(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError("give a number above 0.");
}

const command = new Command("bench")
  .description("Measure every row and its baseline alternately; the figures are medians of the rounds.")
  .option(
    "--only <row>",
    "this row or family alone; * stands for any text (repeatable)",
    (row: string, all: string[]) => [...all, row],
    [],
  )
  .option("--rounds <n>", "rounds of each row; rows that take long have fewer", positive, 5)
  .option("--scale <share>", "share of the full amount of work; 0.01 tries the bench itself", positive, 1)
  .option("--json <file>", "write everything that was measured to this file")
  .option("--write", "put the figures into bench/figures.json and docs/performance.md")
  .option("--from <file>", "measure nothing: show, or write, the results that --json wrote")
  .option("--list", "list the rows, and measure nothing")
  .action((flags: Flags) => bench(flags));

async function bench(flags: Flags): Promise<void> {
  const chosen = chosenRows(rows, flags.only);
  if (flags.list === true) return chosen.forEach(({ name, what }) => print(`${name.padEnd(24)} ${what}`));
  if (flags.from !== undefined) return showKept(flags.from, flags.write === true);
  print(`${machineText(thisMachine())}; load average ${loadavg()[0]?.toFixed(1)}`);
  const measured: FigureRow[] = [];
  for (const row of chosen) {
    measured.push(await measuredRow(row, flags));
    // Saves the results so far, in case a later row fails.
    if (flags.json !== undefined) writeJson(flags.json, figuresOf(measured, flags.scale));
  }
  print(terminalTable(measured));
  if (flags.write === true) keep(measured, flags.scale);
}

/** Shows the figures that an earlier run saved with `--json`. With `--write`, also writes them into the page. */
function showKept(file: string, isWritten: boolean): void {
  const { rows: kept, scale } = readFigures(file);
  print(terminalTable(kept));
  if (isWritten) keep(kept, scale);
}

async function measuredRow(row: Row, { rounds, scale }: Flags): Promise<FigureRow> {
  print(`${row.name}: ${row.what}, against ${row.against}`);
  const measured = await measure(row, sizeOf(scale), Math.ceil(rounds));
  const figures = figureRow(measured, new Date());
  print(`  ${lineOf(figures)} in ${measured.seconds.toFixed(0)} s`);
  return figures;
}

const writeJson = (file: string, figures: Figures): void =>
  writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);

/** Saves new figures. Rows that were not measured now keep their old figures. */
function keep(fresh: readonly FigureRow[], scale: number): void {
  if (scale !== 1) throw new Error("--write needs results of the full size: omit --scale.");
  const kept = existsSync(figuresFile) ? readFigures(figuresFile).rows : [];
  const order = rows.map(({ name }) => name);
  const successful = fresh.filter(({ kind }) => kind === "measured");
  const figures = figuresOf(mergedRows(kept, successful, order), scale);
  writeJson(figuresFile, figures);
  writeFileSync(pageFile, withFigures(readFileSync(pageFile, "utf8"), figures));
  print("The figures are in bench/figures.json and docs/performance.md.");
}

await command.parseAsync();
