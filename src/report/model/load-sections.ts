import { duration } from "../../base/duration.ts";
import { formatNumber } from "../../base/numbers.ts";
import { formatCount } from "../../base/text.ts";
import type { LoadRun, Percentiles, Spread } from "./load-results.ts";
import type { Report, ReportFinding } from "./report.ts";
import { cell, type Cell, type Column, type Fact, type Section } from "./section.ts";
import { joinFirstTexts, outside, outsideProse, own, type Text, text } from "./text.ts";
import { formatTrial } from "./trial-id.ts";

/** The sections of a load report; all `null` for a report without load. */
export function loadSections({ load, findings }: Report): {
  readonly runs: Section | null;
  readonly windows: Section | null;
  readonly streams: Section | null;
  readonly caveats: Section | null;
} {
  const runs = load?.runs ?? [];
  return {
    runs: runs.length === 0 ? null : runsSection(runs, findings),
    windows: windowsSection(runs),
    streams: streamsSection(runs),
    caveats: caveatsSection(runs),
  };
}

const trialText = (run: LoadRun): Text => outside(formatTrial(run), 120);

interface RunColumn extends Column {
  readonly cellOf: (run: LoadRun) => Cell;
}

const textColumn = (head: string, textOf: (run: LoadRun) => Text): RunColumn => ({
  head,
  align: "left",
  dropRank: 0,
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
    ...textColumn("scenario", ({ scenario }) => outside(scenario, 60)),
    cellOf: ({ scenario, evidence }) => cell(outside(scenario, 60), "plain", { kind: "load run", evidence }),
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

/** A row for each load run, with its result last. */
function runsSection(runs: readonly LoadRun[], findings: readonly ReportFinding[]): Section {
  const columns: readonly RunColumn[] = [
    ...runColumns,
    { ...textColumn("result", () => own("")), cellOf: (run) => loadRunResult(run, findings) },
  ];
  return {
    name: "load",
    title: "Load",
    lead: null,
    summary: null,
    blocks: [
      {
        kind: "table",
        name: "Load runs",
        columns,
        rows: runs.map((run) => columns.map(({ cellOf }) => cellOf(run))),
        lead: null,
        isMinor: false,
      },
    ],
  };
}

/** The findings that rest on the evidence of a load run. */
export const findingsOfLoadRun = ({ evidence }: LoadRun, findings: readonly ReportFinding[]): ReportFinding[] =>
  findings.filter((finding) => finding.evidence?.includes(evidence) === true);

function loadRunResult(run: LoadRun, findings: readonly ReportFinding[]): Cell {
  const ownFindings = findingsOfLoadRun(run, findings);
  const count = (outcome: ReportFinding["outcome"]): number =>
    ownFindings.filter((finding) => finding.outcome === outcome).length;
  const { invalid, counts, pace } = run.validity;
  if (count("fail") > 0) return cell(text`${count("fail")} failed`, "bad");
  if (invalid !== null) return cell(own("invalid"), "caution");
  if (counts !== null) return cell(text`${count("pass")} passed, counts invalid`, "caution");
  if (pace !== null) return cell(text`${count("pass")} passed, times invalid`, "caution");
  return cell(text`${count("pass")} passed`, "good");
}

/** Windows that explain every admitted and refused request, each with its runs. */
function windowsSection(runs: readonly LoadRun[]): Section | null {
  const groups = [...Map.groupBy(runs, ({ windows }) => windows)].flatMap(([windows, members]) =>
    windows === null ? [] : [{ windows, members }],
  );
  if (groups.length === 0) return null;
  // The shortest list names the fewest shapes, and so says most about the target.
  const sorted = groups.toSorted((one, other) => one.windows.length - other.windows.length);
  const items = sorted.map(
    ({ windows, members }) => text`${outsideProse(windows)} (${joinFirstTexts(members.map(trialText), 3)})`,
  );
  return itemsSection("windows", "Windows that explain every response", items);
}

function streamsSection(runs: readonly LoadRun[]): Section | null {
  const items = runs.flatMap((run) => {
    const { streams } = run;
    if (streams === null || streams.firstEventMs === null) return [];
    const gap = streams.longestGapMs === null ? "" : `, longest gap ${formatSpread(streams.longestGapMs)}`;
    const times = `${formatCount(streams.count, "stream")}, first event ${formatSpread(streams.firstEventMs)}${gap}`;
    return [text`${trialText(run)}: ${own(times)}`];
  });
  return items.length === 0 ? null : itemsSection("streams", "Streams (median, 99 %, longest)", items);
}

const formatSpread = ({ median, p99, max }: Spread): string =>
  `${Math.round(median)}, ${Math.round(p99)}, ${Math.round(max)} ms`;

/** Runs, or parts of their results, that prove nothing, with the reasons. */
function caveatsSection(runs: readonly LoadRun[]): Section | null {
  const items = runs.flatMap((run) => {
    const { invalid, counts, pace } = run.validity;
    const reason = invalid ?? counts ?? pace;
    if (reason === null) return [];
    const what = invalid !== null ? "the run proves" : counts !== null ? "its exact counts prove" : "its times prove";
    return [text`${trialText(run)}: ${own(what)} nothing: ${outsideProse(reason, 200)}`];
  });
  return items.length === 0 ? null : itemsSection("caveats", "Results that prove nothing", items);
}

const itemsSection = (name: Section["name"], title: string, items: readonly Text[]): Section => ({
  name,
  title,
  lead: null,
  summary: null,
  blocks: [{ kind: "items", items }],
});

/** Facts about one load run that the table of runs has no room for. */
export function loadRunFacts(run: LoadRun): Fact[] {
  const { windows, notes, stopped, speed, durationMs, isFresh, serverRssBytes, generator } = run;
  const mebibytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;
  const fact = (label: string, value: Text): Fact => ({ label: own(label), value });
  return [
    fact(
      "Duration",
      own(`${duration(durationMs)}${speed === 1 ? "" : `; the target's clock ran ${speed} times as fast`}`),
    ),
    ...(windows === null ? [] : [fact("Windows that explain every response", outsideProse(windows, 500))]),
    fact("Key", own(isFresh ? "no request had used it before" : "had been used before")),
    ...(generator.dropped + generator.late > 0
      ? [fact("Generator", own(`${formatCount(generator.dropped, "request")} not started, ${generator.late} late`))]
      : []),
    ...(serverRssBytes === null
      ? []
      : [
          fact(
            "Memory of the server",
            own(`${mebibytes(serverRssBytes.first)} at first, ${mebibytes(serverRssBytes.last)} at last`),
          ),
        ]),
    ...(stopped === null ? [] : [fact("Ended early", outsideProse(stopped, 500))]),
    ...notes.map((note) => fact("Note", outsideProse(note, 500))),
  ];
}
