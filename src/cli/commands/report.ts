import { narrowDocument } from "../report/narrow-document.ts";
import { type RequirementsFlag } from "../requirements-flag.ts";
import { Command } from "commander";

import { readReportDocument } from "../../app/report-folder/read-report-document.ts";
import { digestsOfSaved, folderOf } from "../../app/report-folder/saved-run.ts";
import type { RequestedFormats } from "../../app/report-folder/write-formats.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import type { FailurePolicy } from "../../report/model/failure-policy.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import {
  assertSources,
  type FormatFlags,
  prepareFormats,
  readRules,
  type FailureFlags,
  withFormatOptions,
  withFailureOptions,
} from "../report/format-flags.ts";
import { presentReport, reportExitCode } from "../report/present-report.ts";
import { printLine } from "../print-line.ts";
import { line } from "../../base/line.ts";

interface ReportFlags extends FormatFlags, FailureFlags, RequirementsFlag {
  readonly exitCode?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

const examples = `
Without a format, it shows the report on the terminal. A FILE of - prints that format, and nothing else; one format at most.

Examples:
  conformance report reports/2026-01-31T02-00-00-000Z-acme
  conformance report reports/2026-01-31T02-00-00-000Z-acme --html acme.html --junit junit.xml
  conformance report reports/2026-01-31T02-00-00-000Z-acme --markdown - | gh pr comment --body-file -
  conformance report reports/2026-01-31T02-00-00-000Z-acme --quiet --exit-code

Exit codes: 0 everything was written, whatever the verdict is; 2 the report cannot be read, or is refused; 4 a format could not be written;
with --exit-code, what the run would have ended with.`;

/** `conformance report REPORT`: writes a saved report in other formats, or prints it as text. */
export function reportCommand(): Command {
  const command = new Command("report").argument(
    "<report>",
    "folder of a saved report, of a run or of load, or the report.json in it",
  );
  return withSteps(
    withFailureOptions(withFormatOptions(command))
      .option(
        "--requirements <set>",
        "judge by this requirement set; later checks do not count (default: as it was judged)",
      )
      .option("--json <file>", "report.json")
      .option("--exit-code", "end with the exit code of the run")
      .option("-q, --quiet", "only what is broken, and the verdict")
      .option("-v, --verbose", "every table, such as coverage, although something is broken")
      .addHelpText("after", examples),
    {
      prepare: (path: string, flags: ReportFlags) => ({ path, flags, rules: readRules(flags) }),
      act: ({ path, flags }) => {
        const document = narrowDocument(readReportDocument(path), flags);
        assertSources(document, flags);
        return { document, formats: prepareFormats(flags) };
      },
      present,
    },
  );
}

async function present(
  { document, formats }: { readonly document: ReportDocument; readonly formats: RequestedFormats },
  { path, flags, rules }: { readonly path: string; readonly flags: ReportFlags; readonly rules: FailurePolicy },
): Promise<number> {
  const isQuiet = flags.quiet === true;
  const hasFormats = formats.files.length > 0;
  const lost = await presentReport(document, {
    isQuiet,
    isVerbose: flags.verbose === true,
    folder: folderOf(path),
    formats,
    rules,
    digests: () => digestsOfSaved(path, document),
    ...(hasFormats && { stream: null }),
  });
  const written = formats.files.flatMap(({ file }) => file ?? []);
  if (!isQuiet && written.length > 0 && lost === 0) printLine(line`Written: ${written.join(", ")}`);
  return flags.exitCode === true ? reportExitCode(document.report, rules) : exitCodes.fine;
}
