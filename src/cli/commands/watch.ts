import { Command } from "commander";

import { serializeReport } from "../../report/model/report-file.ts";
import { exitCodeOf } from "../../report/model/verdict.ts";
import { readTarget, type TargetFlags } from "../read-target.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { Target } from "../../target/target.ts";
import { exitCodes } from "../exit-codes.ts";
import { secretsOf } from "../../app/judge/target-secrets.ts";
import { withTargetOptions } from "../target-flags.ts";
import { watchInTerminal, formatResumeHint } from "../watch/terminal-watch.ts";
import { readState, type WatchState } from "../../app/watch/state.ts";
import { readSavedRun } from "../../app/report-folder/saved-run.ts";
import { showKept } from "./rejudge.ts";

interface WatchFlags extends TargetFlags {
  readonly strict?: boolean;
  readonly complete?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

const examples = `
The receiver listens again where \`conformance run --watch\` was stopped: same port, same addresses. When the retry schedule is
over, everything is judged again, and report.json and evidence.json are rewritten. Nothing is sent.

Examples:
  conformance watch reports/2026-01-31T02-00-00-000Z-acme`;

/** `conformance watch REPORT`: goes on listening for the retries of a run. */
export function watchCommand(): Command {
  const command = new Command("watch").argument("<report>", "folder of a run with --watch");
  return withTargetOptions(command)
    .option("--strict", "a warning fails as well")
    .option("--complete", "a must clause that was not exercised fails as well")
    .option("--json", "print the new report.json")
    .option("-q, --quiet", "only what is broken, and the verdict")
    .addHelpText("after", examples)
    .action(async (folder: string, flags: WatchFlags) => {
      process.exitCode = await watch(folder, flags);
    });
}

async function watch(folder: string, flags: WatchFlags): Promise<number> {
  const kept = readSavedRun(folder);
  const state = readState(folder);
  const target = targetOf(flags, state, kept.report.target.baseUrl);
  const isQuiet = flags.quiet === true;
  const attended = await watchInTerminal({ folder, state, kept, secrets: secretsOf(target) }, { isQuiet });
  const { report } = attended.kept;
  if (flags.json === true) process.stdout.write(serializeReport(report));
  else showKept(folder, attended.kept, isQuiet);
  if (attended.kind === "interrupted") {
    process.stderr.write(formatResumeHint(folder));
    return exitCodes.interrupted;
  }
  return exitCodeOf(report, { strict: flags.strict === true, complete: flags.complete === true });
}

/** The target of the run: its keys must not get into the report, should it send them. */
function targetOf(flags: WatchFlags, { targetFile }: WatchState, baseUrl: string): Target {
  const isNamed = flags.target !== undefined || flags.baseUrl !== undefined;
  const target = readTarget(isNamed || targetFile === null ? flags : { ...flags, target: targetFile }, process.env);
  if (target === null)
    throw new UsageError(
      "The keys of the run are needed, so that none gets into the report. Set CONFORMANCE_BASE_URL and CONFORMANCE_API_KEY, or give --target.",
    );
  if (target.baseUrl !== baseUrl)
    throw new UsageError(`The run judged ${baseUrl}, and ${target.baseUrl} is named now. Name the same target.`);
  return target;
}
