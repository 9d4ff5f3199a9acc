import { Command } from "commander";

import { type SavedRun, readSavedRun } from "../../app/report-folder/saved-run.ts";
import { cliMessages } from "../messages.ts";
import { rejudgeRun } from "../../app/rejudge.ts";
import { webhookSecret, withoutWebhookSecrets } from "../../app/judge/hook-secrets.ts";
import { serializeReport } from "../../report/model/report-file.ts";
import { renderTerminal } from "../../report/terminal/render.ts";
import { exitCodeOf } from "../../report/model/verdict.ts";
import { terminalOf } from "../terminal.ts";

/** `conformance rejudge REPORT`: judges kept evidence again, by the suites of this version. */
export function rejudgeCommand(): Command {
  return new Command("rejudge")
    .argument("<report>", "folder of a kept report, with report.json and evidence.json")
    .option("--json", "print the new report.json")
    .option("-q, --quiet", "only what is broken, and the verdict")
    .addHelpText("after", "\nExamples:\n  conformance rejudge reports/2026-01-31T02-00-00-000Z-acme")
    .action((folder: string, options: { readonly json?: boolean; readonly quiet?: boolean }) => {
      const { report, evidence } = readSavedRun(folder);
      const again = rejudgeRun(report, evidence, cliMessages);
      if (options.json === true) process.stdout.write(serializeReport(again));
      else showKept(folder, { report: again, evidence }, options.quiet === true);
      process.exitCode = exitCodeOf(again, { strict: false, complete: false });
    });
}

/** Shows a person a report that stands in a folder. */
export function showKept(folder: string, { report, evidence }: SavedRun, isQuiet: boolean): void {
  const terminal = terminalOf(process.stdout);
  const shellVariableOf = (name: string): string | undefined =>
    name === webhookSecret.name ? webhookSecret.variable : undefined;
  const shown = withoutWebhookSecrets({ ...evidence, report });
  terminal.write(renderTerminal(shown.report, shown, { ...terminal.look, quiet: isQuiet, folder, shellVariableOf }));
}
