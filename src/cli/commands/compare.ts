import { Command } from "commander";

import { rejudgeRun } from "../../app/rejudge.ts";
import {
  documentOf,
  readReportWithoutEvidence,
  readSavedRun,
  runFolder,
} from "../../app/report-folder/saved-report.ts";
import { line, UsageError } from "../../base/line.ts";
import { compareReports, hasCommonFindings } from "../../report/compare/compare-reports.ts";
import type { Comparison } from "../../report/compare/comparison.ts";
import { renderComparisonMarkdown, renderComparisonTerminal } from "../../report/compare/render-text.ts";
import { renderComparisonPage } from "../../report/compare/page.ts";
import {
  defaultRegressionKinds,
  defaultRegressionRules,
  InvalidRegressionList,
  parseRegressionRules,
  regressionKinds,
  type RegressionRules,
} from "../../report/compare/regression-rules.ts";
import { partyOf, type ReportDocument } from "../../report/model/report.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { printLine } from "../print-line.ts";
import { cliMessages } from "../messages.ts";
import { type FlagsOf, withOptions } from "../options.ts";
import { prepareFiles, writeOutputs } from "../output-files.ts";
import { narrowDocument } from "./report.ts";
import { terminalOf } from "../terminal.ts";

const renderers = {
  json: (comparison) => `${JSON.stringify(comparison, null, 2)}\n`,
  markdown: renderComparisonMarkdown,
  html: renderComparisonPage,
} as const satisfies Record<string, (comparison: Comparison) => string>;

const formatNames = ["json", "markdown", "html"] as const satisfies (keyof typeof renderers)[];

const compareOptions = {
  "--regression <list>": `what counts as a regression (default: ${defaultRegressionKinds.join(",")})`,
  "--rejudge": "judge the evidence of both by the suites of this version first",
  "--requirements <set>": "judge both by this requirement set; later checks do not count (default: as each was judged)",
  "--json <file>": "write the comparison as JSON; `-`: print it",
  "--markdown <file>": "write it as Markdown; `-`: print it",
  "--html <file>": "write it as a page; `-`: print it",
  "-q, --quiet": "only the regressions, and the summary",
} as const;

const nameWidth = Math.max(...Object.keys(regressionKinds).map((kind) => kind.length));

const helpText = `
What can count as a regression (a list with commas; \`default\` stands for the default, \`none\` for nothing):
${Object.entries(regressionKinds)
  .map(([kind, meaning]) => `  ${kind.padEnd(nameWidth)}  ${meaning}`)
  .join("\n")}
latency, throughput and memory take a share, as latency:30% (25% unless told).

Exit codes: 0 no regression, 1 a regression, 2 usage, 3 the two reports have nothing in common, 4 a file could not be written.

Examples:
  conformance compare reports/monday reports/tuesday
  conformance compare reports/monday reports/tuesday --regression default,reading,observation
  conformance compare reports/release reports/next --rejudge --markdown - >> "$GITHUB_STEP_SUMMARY"
  conformance compare reports/load-old reports/load-new --regression default,latency:30%,throughput:20% --html changes.html`;

/** `conformance compare OLD NEW`: shows what changed between two saved reports. */
export const compareCommand = (): Command =>
  withSteps(
    withOptions(
      new Command("compare")
        .argument("<old>", "saved report: the folder that a run has written, or its report.json")
        .argument("<new>", "saved report of the same kind"),
      compareOptions,
    ).addHelpText("after", helpText),
    {
      prepare,
      act: ({ older, newer, rules }) => compareReports(older, newer, rules),
      present,
    },
  );

function prepare(oldPath: string, newPath: string, flags: FlagsOf<typeof compareOptions>) {
  const rules = readRegressionRules(flags.regression);
  const read = flags.rejudge === true ? readRejudged : readReportWithoutEvidence;
  const [oldDocument, newDocument] = [read(oldPath), read(newPath)];
  const [older, newer] = [narrowDocument(oldDocument, flags), narrowDocument(newDocument, flags)];
  if (kindOf(older) !== kindOf(newer))
    throw new UsageError(
      line`The report ${oldPath} is of ${kindOf(older)}, the report ${newPath} of ${kindOf(newer)}. Give two reports of the same kind.`,
    );
  const outputs = prepareFiles(formatNames, flags);
  return { older, newer, rules, outputs, isQuiet: flags.quiet === true };
}

function kindOf({ report }: ReportDocument): string {
  if (report.load !== undefined) return "load";
  const party = partyOf(report);
  return party === "server" ? "a run" : `a ${party}`;
}

function readRejudged(path: string): ReportDocument {
  const { report, evidence } = readSavedRun(runFolder(path));
  return documentOf(rejudgeRun(report, evidence, cliMessages), evidence);
}

function present(comparison: Comparison, { outputs, isQuiet }: ReturnType<typeof prepare>): number {
  if (!outputs.isStdoutTaken) {
    const { style, write } = terminalOf(process.stdout);
    write(renderComparisonTerminal(comparison, { ...style, quiet: isQuiet }));
  }
  writeOutputs(outputs, (name) => renderers[name](comparison));
  if (!hasCommonFindings(comparison)) {
    printLine(line`The reports have no finding and no load in common: nothing was compared.`);
    return exitCodes.nothingExercised;
  }
  return comparison.regressions.length > 0 ? exitCodes.broken : exitCodes.fine;
}

export function readRegressionRules(list: string | undefined): RegressionRules {
  if (list === undefined) return defaultRegressionRules;
  try {
    return parseRegressionRules(list);
  } catch (error) {
    if (error instanceof InvalidRegressionList) throw new UsageError(line`--regression: ${error.message}`);
    throw error;
  }
}
