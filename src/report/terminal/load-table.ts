import { displayWidth } from "../../base/display-width.ts";
import { tableGap, tableLines, widest } from "../../base/table.ts";
import { formatNumber } from "../../base/numbers.ts";
import type { LoadRun } from "../model/load-results.ts";
import type { Paint } from "../../base/paint.ts";
import type { ReportFinding } from "../model/report.ts";

interface Column {
  readonly head: string;
  readonly align: "left" | "right";
  readonly cell: (run: LoadRun) => string;
  /** The higher, the sooner it is left out where the terminal is narrow; 0: never. */
  readonly dispensable: number;
}

const columns: readonly Column[] = [
  { head: "scenario", align: "left", dispensable: 0, cell: ({ scenario }) => scenario },
  { head: "tier", align: "left", dispensable: 0, cell: ({ tier }) => tier ?? "?" },
  { head: "engine", align: "left", dispensable: 0, cell: engineOf },
  { head: "sent", align: "right", dispensable: 0, cell: ({ requests }) => formatNumber(requests.sent) },
  { head: "/s", align: "right", dispensable: 3, cell: ({ perSecond }) => formatNumber(Math.round(perSecond.sent)) },
  { head: "2xx", align: "right", dispensable: 0, cell: ({ requests }) => formatNumber(requests.admitted) },
  { head: "429", align: "right", dispensable: 0, cell: ({ requests }) => formatNumber(requests.refused) },
  {
    head: "other",
    align: "right",
    dispensable: 2,
    cell: ({ requests }) => formatNumber(requests.failed + requests.unanswered),
  },
  { head: "2xx p50/p99 ms", align: "right", dispensable: 1, cell: ({ latencyMs }) => times(latencyMs.admitted) },
  { head: "429 p50/p99 ms", align: "right", dispensable: 4, cell: ({ latencyMs }) => times(latencyMs.refused) },
];

function engineOf({ engine, segments }: LoadRun): string {
  return segments.length > 1 ? `${engine} ×${segments.length}` : engine;
}

const times = (latency: LoadRun["latencyMs"]["admitted"]): string =>
  latency === null ? "–" : `${short(latency.p50)}/${short(latency.p99)}`;
const short = (ms: number): string => (ms < 10 ? ms.toFixed(1) : formatNumber(Math.round(ms)));

/** A row for each run, with what became of it last. Columns that a narrow terminal does not hold are left out. */
export function loadTable(
  runs: readonly LoadRun[],
  findings: readonly ReportFinding[],
  width: number,
  paint: Paint,
): string[] {
  const said = new Map(runs.map((run) => [run, saidOf(run, findings)]));
  const result: Column = { head: "result", align: "left", dispensable: 0, cell: (run) => said.get(run)?.text ?? "" };
  const shown = fitting([...columns, result], runs, width);
  return tableLines(
    shown.map(({ head, align }) => ({ head: paint.dim(head), align, width: widest })),
    runs.map((run) =>
      shown.map((column) =>
        column === result ? painted(said.get(run) ?? { kind: "fine", text: "" }, paint) : column.cell(run),
      ),
    ),
  );
}

function fitting(all: readonly Column[], runs: readonly LoadRun[], width: number): readonly Column[] {
  const widths = new Map(
    all.map((column) => [column, Math.max(column.head.length, ...runs.map((run) => displayWidth(column.cell(run))))]),
  );
  const total = (shown: readonly Column[]): number =>
    shown.reduce((sum, column) => sum + (widths.get(column) ?? 0) + tableGap, -tableGap);
  const toLeaveOut = all.filter(({ dispensable }) => dispensable > 0).toSorted((a, b) => b.dispensable - a.dispensable);
  let shown = all;
  for (const column of toLeaveOut) if (total(shown) > width) shown = shown.filter((each) => each !== column);
  return shown;
}

interface Said {
  readonly kind: "broken" | "invalid" | "fine";
  readonly text: string;
}

function saidOf(run: LoadRun, findings: readonly ReportFinding[]): Said {
  const own = findings.filter(({ evidence }) => evidence?.includes(run.evidence) === true);
  const broken = own.filter(({ outcome }) => outcome === "fail").length;
  const { invalid, counts, pace } = run.validity;
  if (broken > 0) return { kind: "broken", text: `${broken} FAILED` };
  if (invalid !== null) return { kind: "invalid", text: "invalid" };
  const passed = own.filter(({ outcome }) => outcome === "pass").length;
  const reserve = counts !== null ? ", not whole" : pace !== null ? ", times void" : "";
  return { kind: reserve === "" ? "fine" : "invalid", text: `${passed} passed${reserve}` };
}

function painted({ kind, text }: Said, paint: Paint): string {
  if (kind === "broken") return paint.bold(paint.red(text));
  return kind === "invalid" ? paint.yellow(text) : paint.green(text);
}
