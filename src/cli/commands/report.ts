import { Command } from "commander";

import type { ReportDocument } from "../../report/model/report.ts";
import type { FailurePolicy } from "../../report/model/failure-policy.ts";
import { runExitCode } from "../../report/model/verdict.ts";
import { exitCodes } from "../exit-codes.ts";
import { loadExitCode } from "../load/exit-code.ts";
import { baselineText } from "../report/baseline-text.ts";
import {
  type FormatFlags,
  readRules,
  type RuleFlags,
  withFormatOptions,
  withRuleOptions,
} from "../report/format-flags.ts";
import { digestsOfSaved, folderOf } from "../../app/report-folder/saved-run.ts";
import { readDocument } from "../../app/report-folder/read-document.ts";
import { showReport } from "../report/show-report.ts";
import { assertSources, type PreparedFormats, prepareFormats, writeFormats } from "../report/write-formats.ts";
import { terminalOf } from "../terminal.ts";

interface ReportFlags extends FormatFlags, RuleFlags {
  readonly exitCode?: boolean;
  readonly quiet?: boolean;
}

const examples = `
Without a format, it shows the report on the terminal. A FILE of - prints that format, and nothing else; one format at most.

Examples:
  conformance report reports/2026-01-31T02-00-00-000Z-acme
  conformance report reports/2026-01-31T02-00-00-000Z-acme --html acme.html --junit junit.xml
  conformance report reports/2026-01-31T02-00-00-000Z-acme --markdown - | gh pr comment --body-file -
  conformance report reports/2026-01-31T02-00-00-000Z-acme --quiet --exit-code

Exit codes: 0 everything was written, whatever the verdict is; 2 the report cannot be read, or a format not written; with --exit-code, what
the run would have ended with.`;

/** `conformance report REPORT`: a kept report in every format, and on the terminal. */
export function reportCommand(): Command {
  const command = new Command("report").argument(
    "<report>",
    "folder of a kept report, of a run or of load, or the report.json in it",
  );
  return withRuleOptions(withFormatOptions(command))
    .option("--json <file>", "report.json")
    .option("--exit-code", "end with the exit code of the run")
    .option("-q, --quiet", "only what is broken, and the verdict")
    .addHelpText("after", examples)
    .action((path: string, flags: ReportFlags) => {
      process.exitCode = report(path, flags);
    });
}

function report(path: string, flags: ReportFlags): number {
  const rules = readRules(flags);
  const document = readDocument(path);
  assertSources(document, flags);
  const formats = prepareFormats(flags);
  const problems = writeFormats(document, formats, { rules, digests: () => digestsOfSaved(path, document) });
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (formats.files.length === 0) show(document, path, { rules, isQuiet: flags.quiet === true });
  else if (flags.quiet !== true) tellWritten(formats, problems.length);
  if (problems.length > 0) return exitCodes.usage;
  if (flags.exitCode !== true) return exitCodes.fine;
  return document.report.load === undefined
    ? runExitCode(document.report, rules)
    : loadExitCode(document.report, rules);
}

interface Showing {
  readonly rules: FailurePolicy;
  readonly isQuiet: boolean;
}

function show(document: ReportDocument, path: string, { rules, isQuiet }: Showing): void {
  showReport(document, folderOf(path), isQuiet);
  terminalOf(process.stdout).write(baselineText(document.report.findings, rules.baseline));
}

/** Where several files were to be written, a word that they were. */
function tellWritten({ files }: PreparedFormats, problems: number): void {
  const written = files.flatMap(({ file }) => file ?? []);
  if (written.length > 0 && problems === 0) process.stderr.write(`Written: ${written.join(", ")}\n`);
}
