import { formatRate, type AgentStreaming } from "./streaming.ts";
import { formatDuration } from "../../base/duration.ts";
import { formatNumber } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import { type LoadRun, type Percentiles, type Spread, formatTrial } from "./load-results.ts";
import type { ReportFinding } from "./finding.ts";
import type { Report } from "./report.ts";
import {
  cell,
  type TableCell,
  type TableBlockColumn,
  type LabelledValue,
  type Section,
  fact,
  textColumns,
  joinFirstTexts,
  outside,
  outsideProse,
  own,
  type Text,
  text,
} from "./section.ts";

export function loadSections({ load, findings }: Report): Section[] {
  const runs = load?.runs ?? [];
  return [
    runsSection(runs, findings),
    itemsSection("windows", "Windows that explain every response", windowItems(runs)),
    itemsSection("streams", "Streams (median, 99 %, longest)", runs.flatMap(streamItems)),
    itemsSection("caveats", "Results that prove nothing", runs.flatMap(caveatItems)),
  ];
}

const itemsSection = (name: Section["name"], title: string, items: readonly Text[]): Section => ({
  name,
  title,
  blocks: [{ kind: "items", items }],
});

const trialText = (run: LoadRun): Text => outside(formatTrial(run), 120);

interface RunColumn extends TableBlockColumn {
  readonly cellOf: (run: LoadRun) => TableCell;
}

const textColumn = (head: string, textOf: (run: LoadRun) => Text): RunColumn => ({
  head,
  align: "left",
  cellOf: (run) => cell(textOf(run)),
});

const numberColumn = (head: string, dropRank: number, format: (run: LoadRun) => string): RunColumn => ({
  head,
  align: "right",
  dropRank,
  cellOf: (run) => cell(own(format(run))),
});

const runColumns: readonly RunColumn[] = [
  {
    head: "scenario",
    align: "left",
    cellOf: ({ scenario, evidence }) => ({ ...cell(outside(scenario, 60)), link: { kind: "load run", evidence } }),
  },
  textColumn("tier", ({ tier }) => outside(tier ?? "?", 40)),
  textColumn("engine", ({ engine, segments }) =>
    segments.length > 1 ? text`${outside(engine, 40)} ×${segments.length}` : outside(engine, 40),
  ),
  numberColumn("sent", 0, ({ requests }) => formatNumber(requests.sent)),
  numberColumn("/s", 3, ({ perSecond }) => formatNumber(Math.round(perSecond.sent))),
  numberColumn("2xx", 0, ({ requests }) => formatNumber(requests.admitted)),
  numberColumn("429", 0, ({ requests }) => formatNumber(requests.refused)),
  numberColumn("other", 2, ({ requests }) => formatNumber(requests.failed + requests.unanswered)),
  numberColumn("2xx p50/p99 ms", 1, ({ latencyMs }) => formatPercentiles(latencyMs.admitted)),
  numberColumn("429 p50/p99 ms", 4, ({ latencyMs }) => formatPercentiles(latencyMs.refused)),
];

const formatPercentiles = (latency: Percentiles | null): string =>
  latency === null ? "–" : `${formatMs(latency.p50)}/${formatMs(latency.p99)}`;

const formatMs = (ms: number): string => (ms < 10 ? ms.toFixed(1) : formatNumber(Math.round(ms)));

function runsSection(runs: readonly LoadRun[], findings: readonly ReportFinding[]): Section {
  const result: RunColumn = { head: "result", align: "left", cellOf: (run) => loadRunResult(run, findings) };
  const columns = [...runColumns, result];
  const rows = runs.map((run) => columns.map(({ cellOf }) => cellOf(run)));
  return {
    name: "load",
    title: "Load",
    blocks: [{ kind: "table", name: "Load runs", columns, rows }],
  };
}

export const findingsOfLoadRun = ({ evidence }: LoadRun, findings: readonly ReportFinding[]): ReportFinding[] =>
  findings.filter((finding) => finding.evidence?.includes(evidence) === true);

function loadRunResult(run: LoadRun, findings: readonly ReportFinding[]): TableCell {
  const ofRun = findingsOfLoadRun(run, findings);
  const failed = ofRun.filter(({ outcome }) => outcome === "fail").length;
  const passed = ofRun.filter(({ outcome }) => outcome === "pass").length;
  const { invalid, counts, pace } = run.validity;
  if (failed > 0) return cell(text`${failed} failed`, "bad");
  if (invalid !== null) return cell(own("invalid"), "caution");
  if (counts !== null) return cell(text`${passed} passed, counts invalid`, "caution");
  return pace === null ? cell(text`${passed} passed`, "good") : cell(text`${passed} passed, times invalid`, "caution");
}

const windowItems = (runs: readonly LoadRun[]): Text[] =>
  [...Map.groupBy(runs, ({ windows }) => windows)]
    .flatMap(([windows, members]) => (windows === null ? [] : [{ windows, members }]))
    // Puts the shortest text first, because it is the most precise: `minute fixed` before `minute fixed or rolling`.
    .toSorted((one, other) => one.windows.length - other.windows.length)
    .map(({ windows, members }) => text`${outsideProse(windows)} (${joinFirstTexts(members.map(trialText), 3)})`);

function streamItems(run: LoadRun): Text[] {
  const { streams } = run;
  if (streams === null || streams.firstEventMs === null) return [];
  const gap = streams.longestGapMs === null ? "" : `, longest gap ${formatSpread(streams.longestGapMs)}`;
  const times = `${formatCount(streams.count, "stream")}, first event ${formatSpread(streams.firstEventMs)}${gap}`;
  return [text`${trialText(run)}: ${own(times)}`];
}

const formatSpread = ({ median, p99, max }: Spread): string =>
  `${Math.round(median)}, ${Math.round(p99)}, ${Math.round(max)} ms`;

function caveatItems(run: LoadRun): Text[] {
  const { invalid, counts, pace } = run.validity;
  const reason = invalid ?? counts ?? pace;
  if (reason === null) return [];
  const what = invalid !== null ? "the run proves" : counts !== null ? "its exact counts prove" : "its times prove";
  return [text`${trialText(run)}: ${own(what)} nothing: ${outsideProse(reason, 200)}`];
}

export function loadRunFacts(run: LoadRun): LabelledValue[] {
  const { windows, notes, stopped, speed, durationMs, isFresh, serverRssBytes: memory, generator } = run;
  const mebibytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;
  const late = `${formatCount(generator.dropped, "request")} not started, ${generator.late} late`;
  const values: (readonly [label: string, value: string | null])[] = [
    [
      "Duration",
      `${formatDuration(durationMs)}${speed === 1 ? "" : `; the target's clock ran ${speed} times as fast`}`,
    ],
    ["Windows that explain every response", windows],
    ["Key", isFresh ? "no request had used it before" : "had been used before"],
    ["Generator", generator.dropped + generator.late > 0 ? late : null],
    ["Memory of the server", memory && `${mebibytes(memory.first)} at first, ${mebibytes(memory.last)} at last`],
    ["Ended early", stopped],
    ...notes.map((note) => ["Note", note] as const),
  ];
  return values.flatMap(([label, value]) => (value === null ? [] : [fact(label, outsideProse(value, 500))]));
}

const maxAgents = 8;

export function streamingSection({ streaming = [] }: Pick<Report, "streaming">): Section {
  return {
    name: "streaming",
    title: "Streaming quality",
    lead: own("Figures, which no clause judges: median, 99th percentile and longest. Times include the network."),
    blocks: [
      {
        kind: "table",
        name: "Streaming quality",
        columns: [
          ...textColumns("streams of", "streams", "first content, ms", "gap, ms", "a second"),
          { head: "at once", align: "left", dropRank: 1 },
        ],
        rows: streaming
          .slice(0, maxAgents)
          .map((each) => [
            cell(outside(each.agent, 40)),
            cell(own(formatNumber(each.streams))),
            cell(own(formatPercentileList(each.firstContentMs))),
            cell(own(each.gapMs === null ? "" : formatPercentileList(each.gapMs))),
            cell(own(formatRate(each) ?? "")),
            cell(own(each.lumps === 0 ? "" : formatCount(each.lumps, "stream"))),
          ]),
      },
    ],
  };
}

const formatPercentileList = ({ p50, p99, max }: NonNullable<AgentStreaming["gapMs"]>): string =>
  [p50, p99, max].map((each) => formatNumber(Math.round(each))).join(", ");
