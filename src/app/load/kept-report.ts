import type { LoadEvidence } from "../../load/load-evidence.ts";
import { renderLoadTerminal } from "../../report/load-terminal.ts";
import { exitCodes } from "../../cli/exit-codes.ts";
import { baselineText } from "../../cli/reporting/baseline-text.ts";
import { type FormatFlags, readRules, type RuleFlags } from "../../cli/reporting/format-flags.ts";
import { prepareFormats, writeFormats } from "../../cli/reporting/write-formats.ts";
import { terminalOf } from "../../cli/terminal-of.ts";
import { packageVersion } from "../session/version.ts";
import { againLines } from "./again.ts";
import { assembleLoadReport } from "../../report/assemble/load-report.ts";
import { invalidText, loadExitCode } from "./exit-code.ts";
import { judgeKept, type KeptOutcome } from "./kept.ts";

export interface KeptFlags extends Omit<FormatFlags, "json">, RuleFlags {
  /** Print the report as JSON, and nothing else. */
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/**
 * Judges kept load evidence and shows the report, in every format that was asked for. Gives the exit code.
 *
 * @throws {UsageProblem}
 */
export function showKeptLoad(paths: readonly string[], { json, quiet, ...flags }: KeptFlags): number {
  const rules = readRules(flags);
  const formats = prepareFormats(json === true ? { ...flags, json: "-" } : flags);
  const kept = judgeKept(paths);
  const report = reportOf(kept);
  const problems = writeFormats({ report, evidence: null, load: evidenceOf(kept) }, formats, { rules });
  if (!formats.isStdoutTaken) {
    const { look, write } = terminalOf(process.stdout);
    const parts = { target: null, targetFile: null, patchFlags: "" };
    write(
      renderLoadTerminal(report, {
        ...look,
        quiet: quiet === true,
        folder: null,
        againLines: (row) => againLines(row, parts),
      }),
    );
    write(baselineText(report.findings, rules.baseline));
  }
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  const code = loadExitCode(report, rules);
  if (code === exitCodes.nothingExercised) process.stderr.write(`${invalidText(report) ?? "Nothing was exercised."}\n`);
  return code;
}

const evidenceOf = (kept: readonly KeptOutcome[]): Map<string, LoadEvidence> =>
  new Map(
    kept.flatMap(({ outcome, file }): [string, LoadEvidence][] =>
      outcome.kind === "skipped" || outcome.evidence === null ? [] : [[file, outcome.evidence]],
    ),
  );

/** Evidence does not name the target: who brought it back knows. */
function reportOf(kept: readonly KeptOutcome[]) {
  const files = new Map(kept.map(({ outcome, file }) => [outcome.trial, file]));
  const spans = kept.flatMap(({ outcome }) => {
    if (outcome.kind === "skipped" || outcome.evidence === null) return [];
    const { startedAt, durationMs } = outcome.evidence;
    return [{ fromMs: Date.parse(startedAt), toMs: Date.parse(startedAt) + durationMs }];
  });
  const stopped = kept.flatMap(({ outcome }) =>
    outcome.kind === "judged" && outcome.evidence.stopped !== null ? [outcome.evidence.stopped] : [],
  );
  return assembleLoadReport(
    kept.map(({ outcome }) => outcome),
    {
      version: packageVersion(),
      target: { name: "kept load evidence", baseUrl: "", tiers: {} },
      started: new Date(Math.min(...spans.map(({ fromMs }) => fromMs))),
      finished: new Date(Math.max(...spans.map(({ toMs }) => toMs))),
      waitedMs: 0,
      stopped: stopped[0] ?? null,
      fileOf: (trial) => files.get(trial) ?? "",
    },
  );
}
