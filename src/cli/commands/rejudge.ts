import { Command } from "commander";

import { rejudgeRun } from "../../app/rejudge.ts";
import { documentOf, readSavedRun, type SavedRun } from "../../app/report-folder/saved-report.ts";
import { runExitCode } from "../../report/model/verdict.ts";
import { withSteps } from "../command.ts";
import { cliMessages } from "../messages.ts";
import { type FlagsOf, readRequirements, requirementsOption, withOptions } from "../options.ts";
import { presentReport } from "../report/present-report.ts";
import { prepareFormats } from "../report/report-flags.ts";

const rejudgeOptions = {
  ...requirementsOption,
  "--json": "print the new report.json",
  "-q, --quiet": "only what is broken, and the verdict",
} as const;

type RejudgeFlags = FlagsOf<typeof rejudgeOptions>;

/** `conformance rejudge REPORT`: judges saved evidence again, by the suites of this version. */
export const rejudgeCommand = (): Command =>
  withSteps(
    withOptions(
      new Command("rejudge").argument("<report>", "folder of a saved report, with report.json and evidence.json"),
      rejudgeOptions,
    ).addHelpText("after", "\nExamples:\n  conformance rejudge reports/2026-01-31T02-00-00-000Z-acme"),
    {
      prepare: (folder: string, flags: RejudgeFlags) => ({
        folder,
        flags,
        chosen: flags.requirements === undefined ? {} : { requirements: readRequirements(flags) },
        saved: readSavedRun(folder),
      }),
      act: ({ saved: { report, evidence }, chosen }) => ({
        report: rejudgeRun(report, evidence, cliMessages, chosen),
        evidence,
      }),
      present: async (rejudged, { folder, flags }) => {
        await presentSavedRun(folder, rejudged, flags);
        return runExitCode(rejudged.report);
      },
    },
  );

export async function presentSavedRun(
  folder: string,
  { report, evidence }: SavedRun,
  { json, quiet }: Pick<RejudgeFlags, "json" | "quiet">,
): Promise<void> {
  const isJson = json === true;
  await presentReport(documentOf(report, evidence), {
    report,
    isQuiet: quiet === true,
    folder,
    ...(isJson && { formats: prepareFormats({ json: "-" }), stream: null }),
  });
}
