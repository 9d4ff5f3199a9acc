import { verdictTones } from "../model/verdict.ts";
import { createPaint, formatLabelled, type Paint, wrap } from "../../base/text.ts";
import type { Outcome } from "../model/finding.ts";
import type { Verdict } from "../model/report.ts";
import type { ClauseCell, ClauseSection } from "./clause-rows.ts";
import {
  type TerminalSettings,
  joinBlocks,
  paintTone,
  type TableColumn,
  tableGap,
  tableLines,
} from "../terminal/section-lines.ts";
import type { VendorComparison, VendorSummary } from "./comparison.ts";
import { formatQuestionCounts } from "./questions.ts";
import { comparisonNotes, formatOverview, headRows, type HeadRow } from "./summary.ts";
import { formatSwitch } from "./switches.ts";
import { type VendorCell, type VendorTable, vendorTables } from "./tables.ts";

type TextCells = readonly string[];

export function renderVendorsTerminal(all: VendorComparison, { colour, width }: TerminalSettings): string {
  const paint = createPaint(colour);
  const judged = all.vendors.flatMap(({ kind }, at) => (kind === "judged" ? [at] : []));
  const unjudged = all.vendors.filter((head) => head.kind === "unjudged");
  return joinBlocks([
    ...splitColumns(judged, width).flatMap((part) => terminalTables(all, part, width, paint)),
    gapLines(all, width, paint),
    questionLines(all, width, paint),
    all.switches.flatMap((each) => formatLabelled("switch  ", formatSwitch(each), Math.max(width, 60), paint.bold)),
    unjudged.flatMap(({ name, reason }) => formatLabelled("not judged  ", `${name}: ${reason}`, width, paint.yellow)),
    comparisonNotes(all).flatMap((note) => formatLabelled("note  ", note, width, paint.dim)),
    wrap(formatOverview(all), width),
  ]);
}

function splitColumns(columns: readonly number[], width: number): number[][] {
  const maxColumns = Math.max(1, Math.floor((width - labelColumnWidth) / minColumnWidth));
  const parts = Math.ceil(columns.length / maxColumns);
  return Array.from({ length: parts }, (_, at) =>
    columns.slice(Math.ceil((at * columns.length) / parts), Math.ceil(((at + 1) * columns.length) / parts)),
  );
}

function gapLines({ gaps }: VendorComparison, width: number, paint: Paint): string[] {
  const differing = gaps.filter(({ differs }) => differs).map(({ check }) => check);
  if (differing.length === 0) return [];
  const label = "Where the document is silent, they differ in  ";
  const names = `${differing.join(", ")} (--html and --markdown show how)`;
  return formatLabelled(label, names, Math.max(width, label.length + 40), paint.bold);
}

function questionLines({ vendors, questions }: VendorComparison, width: number, paint: Paint): string[] {
  const counts = formatQuestionCounts(
    vendors.map(({ name }) => name),
    questions,
  );
  return counts === ""
    ? []
    : formatLabelled("What to ask  ", `${counts}: --html and --markdown show it`, width, paint.bold);
}

const tableTitles: Readonly<Partial<Record<VendorTable["id"], string>>> = {
  profiles: "profiles",
  broken: "broken must clauses",
  clauses: "other clauses that differ",
  readings: "readings that differ",
  limits: "limits that differ",
  times: "times",
  streaming: "streaming quality",
  load: "times under load",
};

function terminalTables(all: VendorComparison, part: readonly number[], width: number, paint: Paint): string[][] {
  const pick: ColumnPicker = (cells) => part.flatMap((at) => cells.slice(at, at + 1));
  const heads = pick(all.vendors);
  const table = (title: string, rows: readonly TextCells[]): string[] =>
    rows.length === 0
      ? []
      : formatTable([paint.bold(title), ...heads.map(({ name }) => paint.bold(name))], rows, width);
  return [
    table("", vendorHeadRows(heads, paint)),
    table("sections", sectionRows(all, pick, paint)),
    ...vendorTables(all).map(({ id, groups }) => {
      const rows = groups.flatMap((group) =>
        group.rows
          .filter(({ differs }) => id === "profiles" || id === "broken" || differs !== false)
          .map(({ name, cells }) => [
            id === "limits" ? `${group.title}, ${name}` : name,
            ...pick(cells).map((cell) => formatCell(cell, paint)),
          ]),
      );
      const title = tableTitles[id];
      return title === undefined ? [] : table(title, rows);
    }),
  ];
}

type ColumnPicker = <T>(cells: readonly T[]) => T[];

const vendorHeadRows = (heads: readonly VendorSummary[], paint: Paint): TextCells[] =>
  headRows(heads).map(({ name, textOf }) => [
    name,
    ...heads.map((head) => (head.kind === "judged" ? shortHeadText(name, textOf(head), head.verdict, paint) : "–")),
  ]);

function shortHeadText(name: HeadRow["name"], text: string, verdict: Verdict, paint: Paint): string {
  if (name === "base URL") return text.replace(/^https?:\/\//, "");
  if (name === "under load") return text.replace(/ in \d+ runs$/, "");
  if (name !== "verdict") return text;
  const tone = verdictTones[verdict];
  return tone === "bad" ? paint.red(text) : paintTone(text, tone, paint);
}

function sectionRows({ sections }: VendorComparison, pick: ColumnPicker, paint: Paint): TextCells[] {
  const isAllPassed = ({ rows }: ClauseSection): boolean =>
    rows.every(({ cells }) => pick(cells).every((cell) => cell?.outcome === "pass"));
  const [fine, others] = [sections.filter(isAllPassed), sections.filter((section) => !isAllPassed(section))];
  const rest =
    fine.length === 0
      ? []
      : [{ title: others.length === 0 ? "all" : "all others", rows: fine.flatMap(({ rows }) => rows) }];
  return [...others, ...rest].map(({ title, rows }) => {
    const columns = pick(rows[0]?.cells ?? []).length;
    const cells = Array.from({ length: columns }, (_, at) => rows.flatMap((row) => pick(row.cells).slice(at, at + 1)));
    return [title, ...cells.map((column) => formatSectionCounts(column, paint))];
  });
}

function formatSectionCounts(cells: readonly (ClauseCell | null)[], paint: Paint): string {
  if (cells.every((cell) => cell === null)) return "–";
  const count = (...outcomes: readonly (Outcome | "absent")[]): number =>
    cells.filter((cell) => cell !== null && outcomes.includes(cell.outcome)).length;
  const others = [
    [count("fail"), "fail", paint.red],
    [count("warning", "note"), "other", paint.yellow],
    [count("skipped", "absent", "error"), "not run", paint.dim],
  ] as const;
  const texts = others.flatMap(([number, word, painted]) => (number === 0 ? [] : [painted(`${number} ${word}`)]));
  return [`${count("pass")} pass`, ...texts].join(", ");
}

const outcomeMarks = {
  pass: "✓ pass",
  fail: "✗ fail",
  warning: "! warning",
  note: "· note",
  observed: "· observed",
  skipped: "– skipped",
  error: "✗ error",
} as const;

function formatCell(cell: VendorCell, paint: Paint): string {
  if (cell.kind === "empty") return cell.text === "not in its report" ? "– not in report" : "–";
  if (cell.kind === "text") return cell.text;
  const mark = outcomeMarks[cell.outcome];
  if (cell.outcome === "pass") return paint.green(mark);
  return cell.outcome === "fail" || cell.outcome === "error" ? paint.red(mark) : mark;
}

const minColumnWidth = 19;
const labelColumnWidth = 22;
const maxColumnWidth = 48;

function formatTable(head: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  const each = Math.min(
    maxColumnWidth,
    Math.max(minColumnWidth, Math.floor((width - labelColumnWidth) / (head.length - 1))) - tableGap,
  );
  const columns = head.map((text, at): TableColumn => ({
    head: text,
    align: "left",
    width: { kind: "wrapped", columns: at === 0 ? labelColumnWidth : each },
  }));
  return tableLines(columns, rows);
}
