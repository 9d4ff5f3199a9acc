import { Command } from "commander";

import { digestsOfSaved, folderOf, readReportDocument } from "../../app/report-folder/saved-report.ts";
import type { RequestedFormats } from "../../app/report-folder/write-formats.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { narrowReport } from "../../report/model/requirements.ts";
import type { FailurePolicy } from "../../report/model/failure-policy.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { type FlagsOf, readRequirements, type RequirementsFlag, withOptions } from "../options.ts";
import {
  assertFormatsAvailable,
  failureOptions,
  type FormatFlags,
  formatOptions,
  prepareFormats,
  readFailurePolicy,
} from "../report/report-flags.ts";
import { presentReport, reportExitCode } from "../report/present-report.ts";
import { printLine } from "../print-line.ts";
import { line } from "../../base/line.ts";

const reportOptions = {
  ...failureOptions,
  "--requirements <set>": "judge by this requirement set; later checks do not count (default: as it was judged)",
  "--json <file>": "report.json",
  "--exit-code": "end with the exit code of the run",
  "-q, --quiet": "only what is broken, and the verdict",
  "-v, --verbose": "every table, such as coverage, although something is broken",
} as const;

type ReportFlags = FlagsOf<typeof reportOptions> & FormatFlags;

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
  return withSteps(withOptions(command, formatOptions(), reportOptions).addHelpText("after", examples), {
    prepare: (path: string, flags: ReportFlags) => ({ path, flags, rules: readFailurePolicy(flags) }),
    act: ({ path, flags }) => {
      const document = narrowDocument(readReportDocument(path), flags);
      assertFormatsAvailable(document, flags);
      return { document, formats: prepareFormats(flags) };
    },
    present,
  });
}

async function present(
  { document, formats }: { readonly document: ReportDocument; readonly formats: RequestedFormats },
  { path, flags, rules }: { readonly path: string; readonly flags: ReportFlags; readonly rules: FailurePolicy },
): Promise<number> {
  const isQuiet = flags.quiet === true;
  const hasFormats = formats.files.length > 0;
  const failedWrites = await presentReport(document, {
    isQuiet,
    isVerbose: flags.verbose === true,
    folder: folderOf(path),
    formats,
    rules,
    digests: () => digestsOfSaved(path, document),
    ...(hasFormats && { stream: null }),
  });
  const written = formats.files.flatMap(({ file }) => file ?? []);
  if (!isQuiet && written.length > 0 && failedWrites === 0) printLine(line`Written: ${written.join(", ")}`);
  return flags.exitCode === true ? reportExitCode(document.report, rules) : exitCodes.fine;
}

export const narrowDocument = (document: ReportDocument, flags: RequirementsFlag): ReportDocument =>
  flags.requirements === undefined
    ? document
    : { ...document, report: narrowReport(document.report, readRequirements(flags)) };
