import { Command } from "commander";

import { compareReports, hasCommonFindings } from "../../report/compare/compare-reports.ts";
import { defaultRegressionKinds, regressionKinds } from "../../report/compare/regression-rules.ts";
import { renderComparisonTerminal } from "../../report/compare/terminal.ts";
import { readBothReports } from "../compare/both-reports.ts";
import { type ComparisonFlags, prepareComparisonFiles, writeComparison } from "../compare/comparison-files.ts";
import { readRegressionRules } from "../compare/regression-rules.ts";
import { exitCodes } from "../exit-codes.ts";
import { terminalOf } from "../terminal.ts";

interface CompareFlags extends ComparisonFlags {
  readonly regression?: string;
  readonly rejudge?: boolean;
  readonly quiet?: boolean;
}

/** `conformance compare OLD NEW`: what changed between two kept reports. */
export function compareCommand(): Command {
  return new Command("compare")
    .argument("<old>", "kept report: the folder that a run has written, or its report.json")
    .argument("<new>", "kept report of the same kind")
    .option("--regression <list>", `what counts as a regression (default: ${defaultRegressionKinds.join(",")})`)
    .option("--rejudge", "judge the evidence of both by the suites of this version first")
    .option("--json <file>", "write the comparison as JSON; `-`: print it")
    .option("--markdown <file>", "write it as Markdown; `-`: print it")
    .option("--html <file>", "write it as a page; `-`: print it")
    .option("-q, --quiet", "only the regressions, and the summary")
    .addHelpText("after", helpText)
    .action((oldPath: string, newPath: string, flags: CompareFlags) => {
      process.exitCode = compare(oldPath, newPath, flags);
    });
}

function compare(oldPath: string, newPath: string, flags: CompareFlags): number {
  const rules = readRegressionRules(flags.regression);
  const { older, newer } = readBothReports(oldPath, newPath, flags.rejudge === true);
  const files = prepareComparisonFiles(flags);
  const found = compareReports(older, newer, rules);
  const problems = writeComparison(found, files);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (!files.isStdoutTaken) {
    const { look, write } = terminalOf(process.stdout);
    write(renderComparisonTerminal(found, { ...look, quiet: flags.quiet === true }));
  }
  if (problems.length > 0) return exitCodes.usage;
  if (!hasCommonFindings(found)) {
    process.stderr.write("No finding and no load stands in both reports: nothing was compared.\n");
    return exitCodes.nothingExercised;
  }
  return found.regressions.length > 0 ? exitCodes.broken : exitCodes.fine;
}

const nameWidth = Math.max(...Object.keys(regressionKinds).map((kind) => kind.length));

const helpText = `
What can count as a regression (a list with commas; \`default\` stands for the default, \`none\` for nothing):
${Object.entries(regressionKinds)
  .map(([kind, meaning]) => `  ${kind.padEnd(nameWidth)}  ${meaning}`)
  .join("\n")}
latency, throughput and memory take a share, as latency:30% (25% unless told).

Exit codes: 0 no regression, 1 a regression, 2 usage, or a file that cannot be written, 3 the two reports have nothing in common.

Examples:
  conformance compare reports/monday reports/tuesday
  conformance compare reports/monday reports/tuesday --regression default,reading,observation
  conformance compare reports/release reports/next --rejudge --markdown - >> "$GITHUB_STEP_SUMMARY"
  conformance compare reports/load-old reports/load-new --regression default,latency:30%,throughput:20% --html changes.html`;
