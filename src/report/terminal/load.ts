import { sanitizedReport } from "./sanitized-report.ts";
import { formatFindingBrief } from "./failures.ts";
import { type DistinctFinding, type ClauseGroup, groupByClause } from "../model/clause-groups.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount, joinFirst, formatLabelled } from "../../base/text.ts";
import { duration } from "../../base/duration.ts";
import { type Paint, paintFor } from "../../base/paint.ts";
import { formatScenarioTrials, formatTrialShort } from "../model/trial-id.ts";
import type { LoadRun, FindingTrial } from "../model/load-results.ts";
import { coverageTable } from "./coverage-table.ts";
import { loadTable } from "./load-table.ts";
import type { Report, ReportFinding } from "../model/report.ts";
import { formatCoverage } from "../model/coverage-text.ts";
import { createdLines, errorLines, foundLines, joinBlocks, pathIn, quietLines, skippedLines } from "./run.ts";
import { clauseOutcomes, unexercisedMusts, unreachableText } from "../model/verdict.ts";

export interface LoadTerminalOptions {
  /** Whether to colour; the caller obeys `NO_COLOR`, `FORCE_COLOR` and what kind of stream it is. */
  readonly colour: boolean;
  /** Columns of the terminal. */
  readonly width: number;
  /** Only a line for each broken clause, and the verdict. */
  readonly quiet: boolean;
  /** Folder that `report.json` is in, as a person would name it; `null` where it is not kept. */
  readonly folder: string | null;
  /** Commands that run a finding's scenario again, a line each. */
  readonly reproductionCommands: (load: FindingTrial) => readonly string[];
}

/**
 * A load report for the terminal: what is broken, each with the smallest part of the load that proves it; what else was found, a table of the
 * runs, what they show of the target's windows and streams, what proves nothing, and the verdict as the last line. Ends with a line feed.
 */
export function renderLoadTerminal(kept: Report, options: LoadTerminalOptions): string {
  const report = sanitizedReport(kept);
  const paint = paintFor(options.colour);
  const last = loadVerdictLine(report, paint);
  if (options.quiet) return joinBlocks([quietLines(report, paint), [last]], "\n");
  const width = Math.max(40, options.width);
  const runs = report.load?.runs ?? [];
  return joinBlocks([
    ...groupByClause(report.findings, "fail").map((group) => brokenLines(group, width, paint, options)),
    errorLines(report, width, paint),
    foundLines(groupByClause(report.findings, "warning"), "warning", width, paint),
    foundLines(groupByClause(report.findings, "note"), "note", width, paint),
    runs.length === 0 ? [] : loadTable(runs, report.findings, width, paint),
    coverageTable(report.findings, width, paint),
    windowLines(runs, width, paint),
    streamLines(runs, width, paint),
    validityLines(runs, width, paint),
    skippedLines(report, width, paint),
    createdLines(report, width, paint),
    options.folder === null ? [] : [`${paint.dim("report")}  ${pathIn(options.folder, "report.json")}`],
    [last],
  ]);
}

const indent = "      ";
const mostWitnesses = 8;
const mostCases = 3;
const notOfTheDocument = "a load scenario demands it; the document does not state it";

function brokenLines(group: ClauseGroup, width: number, paint: Paint, options: LoadTerminalOptions): string[] {
  const [first, ...others] = group.distinctFindings;
  const origin = group.section === "" ? notOfTheDocument : `${group.level} · ${group.section}`;
  return [
    `${paint.bold(paint.red("FAIL"))}  ${paint.bold(group.clause)}  ${paint.dim(origin)}`,
    ...(group.says === "" ? [] : formatLabelled(indent, group.says, width, paint.dim)),
    ...caseLines(first, width, paint),
    ...witnessLines(first.finding, paint, options.folder),
    ...others
      .slice(0, mostCases)
      .flatMap((each) => formatLabelled(`${indent}also      `, formatFindingBrief(each), width, paint.dim)),
    ...(others.length > mostCases
      ? [`${indent}also      ${others.length - mostCases} more findings of this clause`]
      : []),
    ...againLines(first.finding, paint, options),
  ];
}

function againLines({ load }: ReportFinding, paint: Paint, options: LoadTerminalOptions): string[] {
  if (load === undefined) return [];
  const commands = options.reproductionCommands(load).map((line) => `${indent}  ${paint.cyan(line)}`);
  return [`${indent}${paint.dim("to run it again")}`, ...commands];
}

function caseLines({ finding, instances }: DistinctFinding, width: number, paint: Paint): string[] {
  const row = (name: string, text: string): string[] =>
    formatLabelled(`${indent}${name.padEnd(10)}`, sanitizeLine(text, 600), width, paint.dim);
  return [
    ...row("expected", finding.expected ?? ""),
    ...row("actual", finding.actual ?? ""),
    ...(finding.seen === undefined || finding.seen.looked < 2 ? [] : row("seen", formatCoverage(finding.seen))),
    ...(finding.load === undefined ? [] : row("under", formatScenarioTrials(finding.load.scenario, instances))),
  ];
}

/** The smallest part of the load that proves the breach; its beginning and its end where it is long. */
function witnessLines({ witness = [], evidence = [] }: ReportFinding, paint: Paint, folder: string | null): string[] {
  if (witness.length === 0) return [];
  const isLong = witness.length > mostWitnesses;
  const head = isLong ? witness.slice(0, mostWitnesses - 2) : witness;
  const tail = isLong ? witness.slice(-2) : [];
  const left = witness.length - head.length - tail.length;
  const where = pathIn(folder, evidence[0] ?? "report.json");
  return [
    `${indent}${paint.dim("witness")}   ${formatCount(witness.length, "line")}, the smallest part that proves it; all requests are in ${where}`,
    ...head.map((line) => `${indent}  ${sanitizeLine(line, 200)}`),
    ...(left > 0 ? [`${indent}  ${paint.dim(`… ${left} more`)}`] : []),
    ...tail.map((line) => `${indent}  ${sanitizeLine(line, 200)}`),
  ];
}

const mostWindows = 4;

/** Which windows explain what was admitted and refused, each with the runs that show it. */
function windowLines(runs: readonly LoadRun[], width: number, paint: Paint): string[] {
  const groups = Map.groupBy(
    runs.filter(({ windows }) => windows !== null),
    ({ windows }) => windows ?? "",
  );
  if (groups.size === 0) return [];
  // The shortest names the fewest shapes, and so tells most.
  const sorted = [...groups].toSorted(([a], [b]) => a.length - b.length);
  return [
    paint.bold("Windows that explain every answer"),
    ...sorted
      .slice(0, mostWindows)
      .flatMap(([text, members]) =>
        formatLabelled(
          "  ",
          `${sanitizeLine(text, 300)} (${joinFirst(members.map(formatTrialShort), 3)})`,
          width,
          paint.dim,
        ),
      ),
    ...(sorted.length > mostWindows ? [`  and ${sorted.length - mostWindows} more in report.json`] : []),
  ];
}

function streamLines(runs: readonly LoadRun[], width: number, paint: Paint): string[] {
  const lines = runs.flatMap((run) => {
    const { streams } = run;
    if (streams === null || streams.firstEventMs === null) return [];
    const { firstEventMs: first, longestGapMs: gaps } = streams;
    const text = `${formatTrialShort(run)}: ${formatCount(streams.count, "stream")}, first event ${spread(first)}${gaps === null ? "" : `, longest gap ${spread(gaps)}`}`;
    return formatLabelled("  ", text, width, paint.dim);
  });
  return lines.length === 0 ? [] : [`${paint.bold("Streams")} (median, 99 %, longest)`, ...lines];
}

const spread = ({
  median,
  p99,
  max,
}: {
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}): string => `${Math.round(median)}, ${Math.round(p99)}, ${Math.round(max)} ms`;

function validityLines(runs: readonly LoadRun[], width: number, paint: Paint): string[] {
  return runs.flatMap((run) => {
    const { invalid, counts, pace } = run.validity;
    const reason = invalid ?? counts ?? pace;
    if (reason === null) return [];
    const what =
      invalid !== null ? "no verdict on the target" : counts !== null ? "not the whole load" : "times prove nothing";
    return formatLabelled(
      "invalid  ",
      `${formatTrialShort(run)}: ${what}: ${sanitizeLine(reason, 200)}`,
      width,
      paint.yellow,
    );
  });
}

const colours = {
  conformant: "green",
  nonconformant: "red",
  partial: "yellow",
  incomplete: "yellow",
  unreachable: "red",
} as const;

/** The last line of a load report: the verdict, what it rests on, and what it cost. */
export function loadVerdictLine(report: Report, paint: Paint): string {
  const { totals, verdict, load } = report;
  if (verdict === "unreachable") return `${paint.bold(paint[colours[verdict]](verdict))}: ${unreachableText(report)}`;
  const demands = [...clauseOutcomes(report.findings.filter(({ level }) => level === "load"))];
  const unmet = demands.flatMap(([name, outcome]) => (outcome === "fail" ? [name] : []));
  const invalid = (load?.runs ?? []).filter(({ validity }) => validity.invalid !== null).length;
  const figures = [
    ...(unmet.length > 0 ? [`${formatCount(unmet.length, "demand")} of load not met (${joinFirst(unmet, 3)})`] : []),
    ...(totals.error > 0 ? [`the harness itself failed at ${formatCount(totals.error, "run")}`] : []),
    ...(invalid > 0 ? [`${formatCount(invalid, "run")} invalid`] : []),
    ...(totals.warning > 0 ? [formatCount(totals.warning, "warning")] : []),
    ...(totals.note > 0 ? [formatCount(totals.note, "note")] : []),
    formatCount(load?.runs.length ?? 0, "load run"),
    `${formatCount(report.requests, "request")} in ${duration(report.durationMs)}`,
  ];
  return `${paint.bold(paint[colours[verdict]](verdict))} under load: ${[groundsOf(report), ...figures].join(", ")}`;
}

function groundsOf({ findings, totals, verdict, unselected, stopped = "" }: Report): string {
  const outcomes = [...clauseOutcomes(findings.filter(({ level }) => level !== "load"))];
  const broken = outcomes.flatMap(([clause, outcome]) => (outcome === "fail" ? [clause] : []));
  const held = new Set(findings.filter(({ outcome }) => outcome === "pass").map(({ clause }) => clause));
  const passed = `${formatCount(totals.pass, "check")} of ${formatCount(held.size, "clause")} passed`;
  const early = `stopped early (${sanitizeLine(stopped, 160)})`;
  switch (verdict) {
    case "conformant":
      return passed;
    case "nonconformant":
      return [
        `${formatCount(broken.length, "must clause")} broken (${joinFirst(broken, 5)})`,
        ...(stopped === "" ? [] : [early]),
        passed,
      ].join(", ");
    case "partial": {
      if (totals.pass + totals.observed + totals.warning + totals.note === 0) return "nothing was exercised";
      const left = unexercisedMusts(findings, unselected);
      if (left.length === 0) return `nothing broken, ${passed}`;
      const which = unselected.length > 0 ? `${unselected.length} of scenarios not chosen` : joinFirst(left, 5);
      return `nothing broken, but ${formatCount(left.length, "must clause")} of load not exercised (${which}), ${passed}`;
    }
    case "incomplete":
      return `${early}, nothing broken by then, ${passed}`;
    case "unreachable":
      return unreachableText({ stopped });
  }
}
