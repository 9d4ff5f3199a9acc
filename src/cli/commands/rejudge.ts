import { Command } from "commander";

import { type KeptRun, readKeptRun } from "../../app/folder/kept-run.ts";
import { cliWording } from "../wording.ts";
import { judgeAgain } from "../../app/rejudge/judge-again.ts";
import { hookSecret, withoutHookSecrets } from "../../app/judge/hook-secrets.ts";
import { reportText } from "../../report/json.ts";
import { renderTerminal } from "../../report/terminal.ts";
import { exitCodeOf } from "../../report/verdict.ts";
import { terminalOf } from "../terminal-of.ts";

/** `conformance rejudge REPORT`: judges kept evidence again, by the suites of this version. */
export function rejudgeCommand(): Command {
  return new Command("rejudge")
    .argument("<report>", "folder of a kept report, with report.json and evidence.json")
    .option("--json", "print the new report.json")
    .option("-q, --quiet", "only what is broken, and the verdict")
    .addHelpText("after", "\nExamples:\n  conformance rejudge reports/2026-01-31T02-00-00-000Z-acme")
    .action((folder: string, options: { readonly json?: boolean; readonly quiet?: boolean }) => {
      const { report, evidence } = readKeptRun(folder);
      const again = judgeAgain(report, evidence, cliWording);
      if (options.json === true) process.stdout.write(reportText(again));
      else showKept(folder, { report: again, evidence }, options.quiet === true);
      process.exitCode = exitCodeOf(again, { strict: false, complete: false });
    });
}

/** Shows a person a report that stands in a folder. */
export function showKept(folder: string, { report, evidence }: KeptRun, isQuiet: boolean): void {
  const terminal = terminalOf(process.stdout);
  const variableOf = (name: string): string | undefined => (name === hookSecret.name ? hookSecret.variable : undefined);
  const shown = withoutHookSecrets({ ...evidence, report });
  terminal.write(renderTerminal(shown.report, shown, { ...terminal.look, quiet: isQuiet, folder, variableOf }));
}
