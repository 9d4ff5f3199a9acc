import { join } from "node:path";

import { Command } from "commander";

import { findEngines } from "../../app/load/available-engines.ts";
import { assertLoadParameters, defaultLoadParameters } from "../../app/load/plan-load.ts";
import { type NightEvents, runNight, type RunNightOptions, type SavedNight } from "../../app/nightly/run-night.ts";
import type { OutputFiles } from "../../app/report-folder/write-files.ts";
import { line, UsageError } from "../../base/line.ts";
import { defaultRegressionKinds } from "../../report/compare/regression-rules.ts";
import { nightsFolder, trendPageFile } from "../../app/nightly/history-store.ts";
import type { Target } from "../../target/target.ts";
import { renderNightJson, renderNightMarkdown, renderNightTerminal } from "../../report/history/render-night.ts";
import { hasNewRegression } from "../../report/history/summary.ts";
import { exitCodeOf } from "../../report/model/verdict.ts";
import { decisiveExitCode, exitCodes } from "../../base/process-end.ts";
import { needsConsent } from "../ask-user.ts";
import { registerSecrets } from "../errors.ts";
import { untilInterrupted } from "../interruption.ts";
import { readEngine } from "../load/load-flags.ts";
import { formatNotSentReason, notSentExitCode, withLoadSteps } from "../load/load-messages.ts";
import { showLoadProgress } from "../load/progress.ts";
import { type FlagsOf, readCount, repeatable, withOptions } from "../options.ts";
import { displayPath, prepareFile, prepareFiles, prepareFolder, writeOutputs } from "../output-files.ts";
import { showRunProgress } from "../progress.ts";
import { appendStepSummary } from "../report/present-report.ts";
import { terminalOf } from "../terminal.ts";
import { readScope, scopeAndBoundOptions, type ScopeFlags } from "../scope-flags.ts";
import {
  type PatchFlags,
  faultAndVariantOptions,
  readFaultsAndVariants,
  readTarget,
  type TargetFlags,
  targetOptions,
} from "../target-flags.ts";
import { printLine, printText, reportUnwrittenOutput } from "../print-line.ts";
import { readRegressionRules } from "./compare.ts";
import { printDamagedNights } from "./trend.ts";

const nightlyOptions = {
  "--history <dir>": { help: "folder of the history; created if it is missing", isRequired: true },
  "--scenario <name>": repeatable("load scenario; default: the short set of `conformance load`"),
  "--no-load": "send no load",
  "--engine <name>": "k6 or autocannon (default: each scenario's first)",
  "-y, --yes": "the owner of the target agrees to the load",
  "--regression <list>": `which findings count as worse, as of compare (default: ${defaultRegressionKinds.join(",")})`,
  "--only-regressions": "exit 1 only for what became worse, not for what was broken before",
  "--keep <nights>": { help: "how many nights are kept", default: "400" },
  "--keep-reports <nights>": { help: "of how many of them the full reports", default: "30" },
  "--html <file>": "the trend page to this file as well as to DIR/trend.html",
  "--markdown <file>": "the night as Markdown; `-` prints it (and in $GITHUB_STEP_SUMMARY)",
  "--json <file>": "the same as JSON; `-` prints it",
  "-q, --quiet": "no progress",
} as const;

type NightlyFlags = FlagsOf<typeof nightlyOptions> & TargetFlags & ScopeFlags & PatchFlags;

const examples = `
Every night is written into the history: an entry under DIR/nights, its reports under DIR/reports, and DIR/trend.html. Findings and exact
counts gate at once. A time gates only when several nights, a rank test and its size agree, and a second run has confirmed it.

Examples:
  conformance nightly --history nights                                   the embedded server
  conformance nightly --target acme.json --history nights --yes          at two in the morning, by cron or CI
  conformance nightly --target acme.json --history nights --no-load --only-regressions
  conformance trend --history nights --html trend.html                   the page again, nothing sent

Exit codes: 0 nothing broken and nothing worse; 1 a must is broken now, or something became worse; 2 usage; 3 the target could not be
reached (or its load not sent), or nothing was exercised; 4 the harness itself failed, or an output could not be written; 130 interrupted (the night is not kept).`;

/** `conformance nightly`: runs the suites, sends load, compares with earlier nights, and saves the night. */
export function nightlyCommand(): Command {
  const command = new Command("nightly").addHelpText("after", examples);
  return withLoadSteps(
    withOptions(command, targetOptions, scopeAndBoundOptions, nightlyOptions, faultAndVariantOptions),
    {
      prepare,
      act: ({ options, outputs, isQuiet }) =>
        untilInterrupted(async ({ signal, hasFailed }) => ({
          outcome: await runNight({ ...options, view: nightEvents(isQuiet, outputs), signal }),
          hasFailed: hasFailed(),
        })),
      present: ({ outcome, hasFailed }, { options, outputs, onlyRegressions }) => {
        if (outcome.kind === "interrupted") {
          printLine(line`${hasFailed ? "Ended early" : "Interrupted"}: the night is not kept in the history.`);
          return hasFailed ? exitCodes.harnessFailed : exitCodes.interrupted;
        }
        presentNight(outcome, options.history, outputs);
        return nightExitCode(outcome, onlyRegressions);
      },
    },
  );
}

async function prepare(flags: NightlyFlags) {
  const target = readTarget(flags);
  const patches = readFaultsAndVariants(flags, target);
  const load = readLoad(flags, target);
  const scope = readScope(flags);
  const engines = await findEngines();
  if (load !== null) assertLoadParameters({ ...defaultLoadParameters, ...load }, target, engines);
  if (flags.html === "-") throw new UsageError(line`--html takes a file: \`conformance trend\` prints the page.`);
  const keep = { nights: readCount(flags.keep, "--keep"), reports: readCount(flags.keepReports, "--keep-reports") };
  const rules = readRegressionRules(flags.regression);
  const history = prepareFolder(flags.history, "--history");
  prepareFolder(nightsFolder(history), "--history");
  prepareFile(join(history, trendPageFile), "--history");
  const page = flags.html === undefined ? null : prepareFile(flags.html, "--html");
  const outputs = prepareFiles(["markdown", "json"], flags);
  const agree = (): boolean => flags.yes === true;
  return {
    options: { ...scope, target, patches, load, engines, agree, history, keep, rules, page },
    outputs,
    onlyRegressions: flags.onlyRegressions === true,
    isQuiet: flags.quiet === true,
  };
}

function readLoad(flags: NightlyFlags, target: Target | null): RunNightOptions["load"] {
  if (!flags.load) {
    if (flags.scenario.length > 0) throw new UsageError(line`--scenario and --no-load exclude each other.`);
    return null;
  }
  if (target !== null && needsConsent(target.baseUrl, flags.yes === true))
    throw new UsageError(
      line`${target.baseUrl} is not this machine: give --yes if its owner agrees to load every night, or --no-load. Nothing was sent.`,
    );
  return { ...defaultLoadParameters, scenarios: flags.scenario, engine: readEngine(flags.engine) ?? "first" };
}

function nightEvents(isQuiet: boolean, { isStdoutTaken }: Pick<NightOutputs, "isStdoutTaken">): NightEvents {
  return {
    damaged: printDamagedNights,
    run: showRunProgress(isQuiet),
    load: {
      ...showLoadProgress(process.stderr, isQuiet),
      planned: (_, target) => void registerSecrets(target),
      problem: reportUnwrittenOutput,
    },
    judged: ({ judgement, night, nightCount }) => {
      const { style, write } = terminalOf(isStdoutTaken ? process.stderr : process.stdout);
      write(renderNightTerminal(judgement, night, { ...style, nights: nightCount }));
    },
    again: (trials) => {
      const names = trials.map(({ scenario, tier }) => `${scenario.name} (${tier})`).join(", ");
      if (!isQuiet) printText(`Sent again, to confirm what looks worse than before: ${names}`);
    },
  };
}

type NightOutputs = OutputFiles<"markdown" | "json">;

function presentNight(saved: SavedNight, history: string, outputs: NightOutputs): void {
  const { judgement, night, nightCount, damaged, executed } = saved;
  const texts = {
    markdown: renderNightMarkdown(judgement, night, nightCount),
    json: renderNightJson(judgement, night, damaged),
  };
  const { write } = terminalOf(outputs.isStdoutTaken ? process.stderr : process.stdout);
  if (saved.reports !== null) write(`report  ${displayPath(saved.reports)}\n`);
  write(`trend   ${displayPath(join(history, trendPageFile))}\n`);
  if (night.findings.length === 0 && night.stopped !== undefined) printText(night.stopped);
  if (executed.noLoad !== null) printText(`No load was sent: ${formatNotSentReason(executed.noLoad)}`);
  writeOutputs(outputs, (name) => texts[name]);
  appendStepSummary(() => texts.markdown);
}

/**
 * Returns the exit code of a nightly run. With `onlyRegressions`, a failed check counts only if it is worse than on
 * earlier nights.
 */
export function nightExitCode({ executed, judgement }: SavedNight, onlyRegressions: boolean): number {
  const { run, load, night, noLoad } = executed;
  if (run === null) return exitCodes.nothingExercised;
  if (hasNewRegression(judgement)) return exitCodes.broken;
  const all = [...run.report.findings, ...(load?.report.findings ?? [])];
  const findings = onlyRegressions ? all.filter(({ outcome }) => outcome !== "fail") : all;
  const code = exitCodeOf({ findings, unselected: [] }, { strict: false, complete: false });
  const ofLoad = noLoad === null ? null : notSentExitCode(noLoad);
  const isIncomplete = night.verdict === "incomplete" && ofLoad === null;
  return decisiveExitCode([code, ofLoad ?? code, isIncomplete ? exitCodes.nothingExercised : code]);
}
