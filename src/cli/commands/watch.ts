import { resolve } from "node:path";

import { Command } from "commander";

import { secretsOf } from "../../app/judge/secrets.ts";
import { readSavedRun } from "../../app/report-folder/saved-report.ts";
import { readState, type WatchState } from "../../app/watch/watch-files.ts";
import { line, UsageError } from "../../base/line.ts";
import { runExitCode } from "../../report/model/verdict.ts";
import type { Target } from "../../target/target.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { printLine, reportUnwrittenOutput } from "../print-line.ts";
import { lockReportFolder } from "../output-files.ts";
import { type FlagsOf, withOptions } from "../options.ts";
import { readTarget, type TargetFlags, targetOptions } from "../target-flags.ts";
import { formatResumeHint, watchInTerminal } from "../watch/terminal-watch.ts";
import { presentSavedRun } from "./rejudge.ts";

const watchOptions = {
  "--strict": "a warning fails as well",
  "--complete": "a must clause that was not exercised fails as well",
  "--json": "print the new report.json",
  "-q, --quiet": "only what is broken, and the verdict",
} as const;

type WatchFlags = TargetFlags & FlagsOf<typeof watchOptions>;

const examples = `
The receiver listens again where \`conformance run --watch\` was stopped: same port, same addresses. When the retry schedule is
over, everything is judged again, and report.json and evidence.json are rewritten. Nothing is sent.

Examples:
  conformance watch reports/2026-01-31T02-00-00-000Z-acme`;

/** `conformance watch REPORT`: keeps listening for the webhook retries of a run. */
export const watchCommand = (): Command =>
  withSteps(
    withOptions(
      new Command("watch").argument("<report>", "folder of a run with --watch"),
      targetOptions,
      watchOptions,
    ).addHelpText("after", examples),
    {
      prepare: (folder: string, flags: WatchFlags) => {
        const kept = readSavedRun(folder);
        const state = readState(folder);
        lockReportFolder(resolve(folder), null);
        return { folder, flags, kept, state, target: targetOf(flags, state, kept.report.target.baseUrl) };
      },
      act: ({ folder, flags, kept, state, target }) =>
        watchInTerminal({ folder, state, kept, secrets: secretsOf(target) }, { isQuiet: flags.quiet === true }),
      present: async ({ kind, kept, problem }, { folder, flags }) => {
        await presentSavedRun(folder, kept, flags);
        if (problem !== null) reportUnwrittenOutput(problem);
        if (kind !== "interrupted")
          return runExitCode(kept.report, { strict: flags.strict === true, complete: flags.complete === true });
        printLine(formatResumeHint(folder));
        return exitCodes.interrupted;
      },
    },
  );

/** Reads the target that the run judged. Its keys must be redacted in the deliveries that arrive now. */
function targetOf(flags: WatchFlags, { targetFile }: WatchState, baseUrl: string): Target {
  const isNamed = flags.target !== undefined || flags.baseUrl !== undefined;
  const target = readTarget(isNamed || targetFile === null ? flags : { ...flags, target: targetFile });
  if (target === null)
    throw new UsageError(
      line`The keys of the run are needed, to keep them out of the report. Set CONFORMANCE_BASE_URL and CONFORMANCE_API_KEY, or give --target.`,
    );
  if (target.baseUrl !== baseUrl)
    throw new UsageError(line`The run judged ${baseUrl}, and ${target.baseUrl} is named now. Name the same target.`);
  return target;
}
