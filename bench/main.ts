import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";

import { Command, InvalidArgumentError } from "commander";

import { projectRoot } from "./measuring/scratch.ts";
import { rows } from "./rows/all.ts";
import { chooseRows, type BenchRow, sizeOf } from "./tool/row.ts";
import {
  type FigureRow,
  toFigureRow,
  type Figures,
  toFigures,
  mergeRows,
  readFigures,
  describeMachine,
} from "./tool/figures.ts";
import { measureRow } from "./tool/measure.ts";
import { replaceFigures } from "./tool/page.ts";
import { formatRow, formatMachine, terminalTable } from "./tool/row-text.ts";

// Implements `npm run bench`: measures rows of the table in docs/performance.md, and their baselines.

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

function positiveNumber(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError("give a number above 0.");
}

const command = new Command("bench")
  .description("Measure every row and its baseline alternately; the figures are medians of the rounds.")
  .addHelpText(
    "after",
    "\nMeasure on an idle machine. docs/performance.md says what each row is, and how to read the figures.",
  )
  .option(
    "--only <row>",
    "this row or family alone; * stands for any text (repeatable)",
    (row: string, all: string[]) => [...all, row],
    [],
  )
  .option("--rounds <n>", "rounds of each row; rows that take long have fewer", positiveNumber, 5)
  .option("--scale <share>", "share of the full amount of work; 0.01 tries the bench itself", positiveNumber, 1)
  .option("--json <file>", "write everything that was measured to this file")
  .option("--write", "put the figures into bench/figures.json and docs/performance.md")
  .option("--from <file>", "measure nothing: show, or write, the results that --json wrote")
  .option("--list", "list the rows, and measure nothing")
  .action((flags: Flags) => bench(flags));

async function bench(flags: Flags): Promise<void> {
  const chosen = chooseRows(rows, flags.only);
  if (flags.list === true) return chosen.forEach(({ name, what }) => print(`${name.padEnd(24)} ${what}`));
  if (flags.from !== undefined) return showSavedFigures(flags.from, flags.write === true);
  print(`${formatMachine(describeMachine())}; load average ${loadavg()[0]?.toFixed(1)}`);
  const measured: FigureRow[] = [];
  for (const row of chosen) {
    measured.push(await measureAndPrint(row, flags));
    // Saves the results after each row, so that an interruption loses only the current row.
    if (flags.json !== undefined) writeJson(flags.json, toFigures(measured, flags.scale));
  }
  print(terminalTable(measured));
  if (flags.write === true) saveFigures(measured, flags.scale);
}

function showSavedFigures(file: string, isWritten: boolean): void {
  const { rows: kept, scale } = readFigures(file);
  print(terminalTable(kept));
  if (isWritten) saveFigures(kept, scale);
}

async function measureAndPrint(row: BenchRow, { rounds, scale }: Flags): Promise<FigureRow> {
  print(`${row.name}: ${row.what}, against ${row.against}`);
  const measured = await measureRow(row, sizeOf(scale), Math.ceil(rounds));
  const figures = toFigureRow(measured, new Date());
  print(`  ${formatRow(figures)} in ${measured.seconds.toFixed(0)} s`);
  return figures;
}

const writeJson = (file: string, figures: Figures): void =>
  writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);

function saveFigures(fresh: readonly FigureRow[], scale: number): void {
  if (scale !== 1) throw new Error("--write needs results of the full size: omit --scale.");
  const kept = existsSync(figuresFile) ? readFigures(figuresFile).rows : [];
  const order = rows.map(({ name }) => name);
  const successful = fresh.filter(({ kind }) => kind === "measured");
  const figures = toFigures(mergeRows(kept, successful, order), scale);
  writeJson(figuresFile, figures);
  writeFileSync(pageFile, replaceFigures(readFileSync(pageFile, "utf8"), figures));
  print("The figures are in bench/figures.json and docs/performance.md.");
}

await command.parseAsync();
