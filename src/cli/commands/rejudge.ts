import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { Command } from "commander";

import { type Check, probesOf, type Suite } from "../../run/check.ts";
import { assembleFindings, clausesHash, untestableRows } from "../../report/assemble.ts";
import { createdOf } from "../../report/created.ts";
import type { Evidence } from "../../report/evidence-file.ts";
import { readEvidence, readReport, reportText, UnreadableFile } from "../../report/json.ts";
import type { Report } from "../../report/report.ts";
import { renderTerminal } from "../../report/terminal.ts";
import { exitCodeOf } from "../../report/verdict.ts";
import { judgeAll, type ProbeResults } from "../../run/judge.ts";
import { suites } from "../../suites/all.ts";
import { UsageProblem } from "../../target/problem.ts";
import { hookSecret, withoutHookSecrets } from "../../app/session/hook-secrets.ts";
import { packageVersion } from "../../app/session/version.ts";
import { terminalOf } from "../terminal-of.ts";

/** `conformance rejudge REPORT`: judges kept evidence again, by the suites of this version. */
export function rejudgeCommand(): Command {
  return new Command("rejudge")
    .argument("<report>", "folder of a kept report, with report.json and evidence.json")
    .description("Judge the evidence of a kept report again, by the suites of this version. Nothing is sent.")
    .option("--json", "print the new report.json")
    .option("-q, --quiet", "only what is broken, and the verdict")
    .addHelpText("after", "\nExamples:\n  conformance rejudge reports/2026-01-31T02-00-00-000Z-acme")
    .action((folder: string, options: { readonly json?: boolean; readonly quiet?: boolean }) => {
      const { report, evidence } = readKept(folder);
      const again = judgeAgain(report, evidence);
      if (options.json === true) process.stdout.write(reportText(again));
      else showKept(folder, { report: again, evidence }, options.quiet === true);
      process.exitCode = exitCodeOf(again, { strict: false, complete: false });
    });
}

/** Shows a person a report that stands in a folder. */
export function showKept(
  folder: string,
  { report, evidence }: { readonly report: Report; readonly evidence: Evidence },
  isQuiet: boolean,
): void {
  const terminal = terminalOf(process.stdout);
  const variableOf = (name: string): string | undefined => (name === hookSecret.name ? hookSecret.variable : undefined);
  const shown = withoutHookSecrets({ ...evidence, report });
  terminal.write(renderTerminal(shown.report, shown, { ...terminal.look, quiet: isQuiet, folder, variableOf }));
}

/**
 * The report that the suites of this version make of kept evidence.
 *
 * @param selected default: what the run had selected, and what has come since on probes that it ran
 */
export function judgeAgain(
  report: Report,
  evidence: Evidence,
  selected: readonly Suite[] = suitesOf(report, evidence),
): Report {
  const results: ProbeResults = Map.groupBy(evidence.probes, ({ probe }) => probe);
  return {
    ...report,
    ...assembleFindings(judgeAll(selected, results), report.stopped ?? null, report.unselected),
    created: createdOf(evidence.exchanges, new Date(report.started)),
    untestable: untestableRows(),
    suite: { version: packageVersion(), clauses: clausesHash() },
  };
}

/** The checks that the run had selected, and those that have come since and can be judged by what its probes brought back. */
function suitesOf({ unselected, findings }: Report, { probes }: Evidence): Suite[] {
  const selected = new Set(findings.map(({ check }) => check));
  const planned = new Set(probes.map(({ probe }) => probe));
  const isJudged = ({ id, clause, on }: Check): boolean =>
    !unselected.includes(clause) &&
    (selected.has(id) || Object.values(probesOf(on)).every(({ name }) => planned.has(name)));
  return suites.map((suite) => ({ ...suite, checks: suite.checks.filter(isJudged) }));
}

/**
 * What a run has written into a folder.
 *
 * @throws {UsageProblem}
 */
export function readKept(folder: string): { readonly report: Report; readonly evidence: Evidence } {
  try {
    if (!statSync(folder).isDirectory())
      throw new UsageProblem(`${folder} is no folder. Give the folder that a run has written.`);
    const file = (name: string): [string, string] => [readFileSync(join(folder, name), "utf8"), join(folder, name)];
    const report = readReport(...file("report.json"));
    if (report.load !== undefined)
      throw new UsageProblem(
        `${folder} is the report of a load run: \`conformance load judge ${folder}\` judges it again.`,
      );
    return { report, evidence: readEvidence(...file("evidence.json")) };
  } catch (error) {
    if (error instanceof UnreadableFile) throw new UsageProblem(error.message);
    if (error instanceof Error && "code" in error)
      throw new UsageProblem(
        `The report cannot be read: ${folder} (${String(error.code)}). Give the folder that a run has written.`,
      );
    throw error;
  }
}
