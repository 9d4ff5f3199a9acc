import { appendFileSync, statSync } from "node:fs";
import type { JudgedTarget } from "../../app/judge/judge-target.ts";
import { describeInvalidTrials, type FindingTrial } from "../../report/model/load-results.ts";
import { documentOf } from "../../app/report-folder/saved-report.ts";
import {
  type RequestedFormats,
  saveAndWriteFormats,
  type WriteOptions,
} from "../../app/report-folder/write-formats.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { line } from "../../base/line.ts";
import { decisiveExitCode, exitCodes, handlePendingSignals } from "../../base/process-end.ts";
import { annotationLines } from "../../report/formats/annotations.ts";
import { renderMarkdown } from "../../report/formats/markdown.ts";
import { applyBaseline, type Baseline, defaultPolicy, type FailurePolicy } from "../../report/model/failure-policy.ts";
import type { ReportFinding } from "../../report/model/finding.ts";
import type { Report, ReportDocument } from "../../report/model/report.ts";
import { runExitCode } from "../../report/model/verdict.ts";
import { renderTerminal } from "../../report/terminal/render-terminal.ts";
import { printLine, printText, reportUnwrittenOutput } from "../print-line.ts";
import { displayPath } from "../output-files.ts";
import { terminalOf } from "../terminal.ts";
import type { prepareReport, ReportFlags } from "./report-flags.ts";
import { scenarioNamed } from "../../load/scenarios.ts";
import { loadCommandLine } from "../../report/reproduce/finding-evidence.ts";
import { shellQuote } from "../../base/shell-words.ts";
import type { Target } from "../../target/target.ts";

interface ReproductionOptions {
  readonly target: Target | null;
  readonly targetFile: string | null;
  readonly patchFlags: string;
}

/** Used if the target of a load is unknown, as for a saved report. Printed k6 commands then have `$BASE_URL`. */
const unknownTarget: ReproductionOptions = { target: null, targetFile: null, patchFlags: "" };

/** Returns shell commands that repeat a trial of a load. API keys appear only as shell variables. */
export function reproductionCommands(load: FindingTrial, parts: ReproductionOptions): string[] {
  const scenario = scenarioNamed(load.scenario);
  const hasK6 = scenario?.engines.includes("k6") === true;
  return [
    `${loadCommandLine(load)}${targetFlagsText(parts)}`,
    ...(hasK6 ? k6Lines(load, scenario.needs.includes("keys.second"), parts) : []),
  ];
}

function targetFlagsText({ target, targetFile, patchFlags }: ReproductionOptions): string {
  if (target === null) return patchFlags;
  if (targetFile !== null) return ` --target ${shellQuote(targetFile)}`;
  return ` --base-url ${shellQuote(target.baseUrl)}`;
}

function k6Lines(
  { scenario, tier }: FindingTrial,
  needsSecond: boolean,
  { target, patchFlags }: ReproductionOptions,
): string[] {
  const [main, second] = target === null ? [] : Object.values(target.keys).filter((key) => key.tier === tier);
  const baseUrl = target === null ? '"$BASE_URL"' : shellQuote(target.baseUrl);
  const keys = [
    `-e API_KEY="$${main?.variable ?? "API_KEY"}"`,
    ...(needsSecond ? [`-e API_KEY_SECOND="$${second?.variable ?? "API_KEY_SECOND"}"`] : []),
  ];
  const command = `k6 run k6/${scenario}.ts -e BASE_URL=${baseUrl} ${keys.join(" ")} -e TIER=${shellQuote(tier)}`;
  return target === null
    ? [`${command}   # on \`conformance serve${patchFlags}\`, which prints its address and keys`]
    : [command];
}

const noFormatFiles: RequestedFormats = { files: [], isStdoutTaken: false };

export interface PresentOptions extends WriteOptions {
  /** Whether to print only broken clauses and the verdict. */
  readonly isQuiet: boolean;
  /** Whether to print tables that a text report omits by default. Default: `false`. */
  readonly isVerbose?: boolean;
  readonly folder: string | null;
  readonly formats?: RequestedFormats;
  /**
   * Stream for the text report; `null` for none. Default: standard output, or standard error if a format uses standard
   * output.
   */
  readonly stream?: NodeJS.WriteStream | null;
  readonly shellVariableOf?: (keyName: string) => string | undefined;
  readonly reproduction?: ReproductionOptions;
  readonly hint?: string;
  readonly notes?: readonly string[];
  /** Whether to write a step summary and annotations for GitHub Actions. Default: `false`. */
  readonly reportsToCi?: boolean;
}

/** Prints a report as text and writes the requested formats. Resolves to the number of files that cannot be written. */
export async function presentReport(document: ReportDocument, options: PresentOptions): Promise<number> {
  const { formats = noFormatFiles, rules = defaultPolicy, isFinal = true, notes = [] } = options;
  printReport(document, options);
  notes.forEach(printText);
  await handlePendingSignals();
  const problems = await saveAndWriteFormats(document, formats, options);
  problems.forEach(reportUnwrittenOutput);
  if (options.reportsToCi === true && isFinal) reportToCi(document, rules, formats.isStdoutTaken);
  return problems.length;
}

function printReport(document: ReportDocument, options: PresentOptions): void {
  const { formats = noFormatFiles, rules = defaultPolicy } = options;
  const { stream = formats.isStdoutTaken ? process.stderr : process.stdout } = options;
  if (stream === null) return;
  const { style, write } = terminalOf(stream);
  const { isQuiet, folder, shellVariableOf, reproduction = unknownTarget } = options;
  write(
    renderTerminal(document.report, document.evidence, {
      ...style,
      quiet: isQuiet,
      verbose: options.isVerbose ?? false,
      folder,
      ...(shellVariableOf && { shellVariableOf }),
      loadCommands: (load) => reproductionCommands(load, reproduction),
    }),
  );
  if (!options.isQuiet) write(options.hint ?? "");
  write(baselineText(document.report.findings, rules.baseline));
}

function baselineText(findings: readonly ReportFinding[], baseline: Baseline): string {
  const { excused, stale, expired } = applyBaseline(findings, baseline);
  return [
    ...expired.map(
      ({ check, until = "" }) => `The baseline's entry for ${check} ended on ${until}, and excuses nothing.\n`,
    ),
    ...(excused.length === 0
      ? []
      : [`${excused.length} known ${excused.length === 1 ? "failure is" : "failures are"} excused by the baseline.\n`]),
    ...stale.map(({ check, reason }) => `Stale baseline: ${check} no longer fails (${reason}). Take it out.\n`),
  ].join("");
}

export const reportExitCode = (report: Report, rules: FailurePolicy = defaultPolicy, isComplete = false): number =>
  report.load === undefined ? runExitCode(report, { ...rules, complete: isComplete }) : loadExitCode(report, rules);

/** Returns the exit code for a load report. An invalid trial gives 3 (nothing exercised), unless a clause is broken. */
export const loadExitCode = (report: Report, rules: FailurePolicy = defaultPolicy): number =>
  decisiveExitCode([
    runExitCode(report, rules),
    ...(describeInvalidTrials(report) === null ? [] : [exitCodes.nothingExercised]),
  ]);

/** GitHub's size limit for the summary of a workflow step. */
const maxSummaryBytes = 1024 * 1024;

function reportToCi(document: ReportDocument, rules: FailurePolicy, isStdoutTaken: boolean): void {
  appendStepSummary((maxBytes) => renderMarkdown(document, rules, maxBytes));
  if (process.env["GITHUB_ACTIONS"] !== "true") return;
  const lines = annotationLines(document, rules);
  const stream = isStdoutTaken ? process.stderr : process.stdout;
  if (lines.length > 0) stream.write(`${lines.join("\n")}\n`);
}

export function appendStepSummary(render: (maxBytes: number) => string): void {
  const file = process.env["GITHUB_STEP_SUMMARY"] ?? "";
  if (file === "") return;
  try {
    const freeBytes = maxSummaryBytes - (statSync(file, { throwIfNoEntry: false })?.size ?? 0) - 1;
    const text = `${render(freeBytes)}\n`;
    if (Buffer.byteLength(text) <= freeBytes) appendFileSync(file, text);
    else printLine(line`The summary of this step is full, so nothing was added to it.`);
  } catch (error) {
    printLine(line`The summary of this step cannot be written: ${file} (${errorCodeOrText(error)}).`);
  }
}

interface JudgedOutput extends ReturnType<typeof prepareReport> {
  readonly flags: Pick<ReportFlags, "quiet" | "complete">;
}

export const presentOptionsOf = (
  { report, evidence, kind }: JudgedTarget,
  { flags, rules, formats, folder }: JudgedOutput,
): PresentOptions => ({
  save: { folder, run: { report, evidence } },
  isQuiet: flags.quiet === true,
  folder: displayPath(folder),
  formats,
  rules,
  stream: kind === "judged" && !formats.isStdoutTaken ? process.stdout : process.stderr,
  reportsToCi: true,
});

export async function presentJudged(judged: JudgedTarget, output: JudgedOutput): Promise<number> {
  const { report, evidence, interrupted } = judged;
  await presentReport(documentOf(report, evidence), presentOptionsOf(judged, output));
  return interrupted ? exitCodes.interrupted : reportExitCode(report, output.rules, output.flags.complete === true);
}
