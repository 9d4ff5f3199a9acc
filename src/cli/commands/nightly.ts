import { join } from "node:path";

import { Command } from "commander";

import { findEngines } from "../../app/load/available-engines.ts";
import { defaultLoadParameters, assertLoadParameters } from "../../app/load/plan-load.ts";
import type { RunNightOptions } from "../../app/nightly/execute-night.ts";
import { runNight } from "../../app/nightly/run-night.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { defaultRegressionKinds } from "../../report/compare/regression-rules.ts";
import { nightsFolder, trendPageFile } from "../../app/nightly/history-store.ts";
import type { Target } from "../../target/target.ts";
import { needsConsent } from "../consent.ts";
import { exitCodes } from "../exit-codes.ts";
import { untilInterrupted } from "../interruption.ts";
import { readEngine } from "../load/load-flags.ts";
import { withLoadSteps } from "../load/not-sent.ts";
import { nightEvents, nightExitCode, presentNight } from "../nightly/present-night.ts";
import { appendValue, readCount } from "../option-parsers.ts";
import { prepareFile, prepareFiles, prepareFolder } from "../output-files.ts";
import { readRegressionRules } from "../regression-rules.ts";
import { readScope, type ScopeFlags, withScopeOptions } from "../scope-flags.ts";
import {
  type PatchFlags,
  readPatches,
  readTarget,
  type TargetFlags,
  withPatchOptions,
  withTargetOptions,
} from "../target-flags.ts";
import { printLine } from "../print-line.ts";

interface NightlyFlags extends TargetFlags, PatchFlags {
  readonly history: string;
  readonly scenario: readonly string[];
  readonly load: boolean;
  readonly engine?: string;
  readonly yes?: boolean;
  readonly regression?: string;
  readonly onlyRegressions?: boolean;
  readonly keep: string;
  readonly keepReports: string;
  readonly html?: string;
  readonly markdown?: string;
  readonly json?: string;
  readonly quiet?: boolean;
}

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
  const command = withScopeOptions(withTargetOptions(new Command("nightly")))
    .requiredOption("--history <dir>", "folder of the history; created if it is missing")
    .option(
      "--scenario <name>",
      "load scenario (repeatable; default: the short set of `conformance load`)",
      appendValue,
      [],
    )
    .option("--no-load", "send no load")
    .option("--engine <name>", "k6 or autocannon (default: each scenario's first)")
    .option("-y, --yes", "the owner of the target agrees to the load")
    .option(
      "--regression <list>",
      `which findings count as worse, as of compare (default: ${defaultRegressionKinds.join(",")})`,
    )
    .option("--only-regressions", "exit 1 only for what became worse, not for what was broken before")
    .option("--keep <nights>", "how many nights are kept", "400")
    .option("--keep-reports <nights>", "of how many of them the full reports", "30")
    .option("--html <file>", "the trend page to this file as well as to DIR/trend.html")
    .option("--markdown <file>", "the night as Markdown; `-` prints it (and in $GITHUB_STEP_SUMMARY)")
    .option("--json <file>", "the same as JSON; `-` prints it")
    .option("-q, --quiet", "no progress");
  return withLoadSteps(withPatchOptions(command).addHelpText("after", examples), {
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
  });
}

async function prepare(flags: NightlyFlags & ScopeFlags) {
  const target = readTarget(flags, process.env);
  const patches = readPatches(flags, target);
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

/**
 * Reads the load of a night; `null` with `--no-load`.
 *
 * @throws {UsageError} if the target is not on this machine and `--yes` is missing: a nightly job cannot ask anybody
 */
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
