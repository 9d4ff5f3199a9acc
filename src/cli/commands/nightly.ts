import { join } from "node:path";

import { Command } from "commander";

import { findEngines } from "../../app/load/engines.ts";
import { assertLoadParameters } from "../../app/load/plan-load.ts";
import { defaultLoadParameters } from "../../app/load/load-parameters.ts";
import type { RunNightOptions } from "../../app/nightly/night-options.ts";
import { runNight } from "../../app/nightly/run-night.ts";
import { defaultRegressionKinds } from "../../report/compare/regression-rules.ts";
import { patchesByName } from "../../reference/embedded/patches-by-name.ts";
import { nightsFolder, trendFile } from "../../app/nightly/history-store.ts";
import { readTarget, type TargetFlags } from "../read-target.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { Target } from "../../target/target.ts";
import { readRegressionRules } from "../compare/regression-rules.ts";
import { collect } from "../option-parsers.ts";
import { readCount } from "../option-parsers.ts";
import { exitCodes } from "../exit-codes.ts";
import { onInterruption } from "../interruption.ts";
import { needsConsent } from "../consent.ts";
import { readEngine } from "../load/load-flags.ts";
import { withCliMessages } from "../load/not-sent.ts";
import { nightExitCode } from "../nightly/exit-code.ts";
import { type NightOutputs, nightEvents, presentNight } from "../nightly/tell.ts";
import { prepareFile, prepareFolder } from "../output.ts";
import { readScope, type ScopeFlags, withScopeOptions } from "../scope-flags.ts";
import { withTargetOptions } from "../target-flags.ts";

interface NightlyFlags extends TargetFlags, ScopeFlags {
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
  readonly fault: readonly string[];
  readonly variant: readonly string[];
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
reached, or nothing was exercised; 4 the harness itself failed; 130 interrupted (the night is not kept).`;

/** `conformance nightly`: run, load, compare with the nights before, keep, exit. */
export function nightlyCommand(): Command {
  const command = new Command("nightly");
  return withScopeOptions(withTargetOptions(command))
    .requiredOption("--history <dir>", "folder of the history; made where it is not there")
    .option(
      "--scenario <name>",
      "load scenario (repeatable; default: the short set of `conformance load`)",
      collect,
      [],
    )
    .option("--no-load", "send no load")
    .option("--engine <name>", "k6 or autocannon (default: each scenario's first)")
    .option("-y, --yes", "the owner of the target agrees to the load")
    .option(
      "--regression <list>",
      `which findings count as worse, as of compare (default: ${defaultRegressionKinds.join(",")})`,
    )
    .option("--only-regressions", "exit 1 for what became worse alone, not for what has been broken before")
    .option("--keep <nights>", "how many nights are kept", "400")
    .option("--keep-reports <nights>", "of how many of them the full reports", "30")
    .option("--html <file>", "the trend page to this file as well as to DIR/trend.html")
    .option("--markdown <file>", "what the night brought as Markdown; `-` prints it (and in $GITHUB_STEP_SUMMARY)")
    .option("--json <file>", "the same for machines; `-` prints it")
    .option("-q, --quiet", "no progress")
    .option("--fault <name>", "embedded server only: break one thing on purpose (repeatable)", collect, [])
    .option("--variant <name>", "embedded server only: behave differently, and still legally (repeatable)", collect, [])
    .addHelpText("after", examples)
    .action(async (flags: NightlyFlags) => {
      process.exitCode = await withCliMessages(() => nightly(flags));
    });
}

/** Everything that can be wrong is found before anything is sent. */
async function nightly(flags: NightlyFlags): Promise<number> {
  const patches = patchesByName(flags.fault, flags.variant);
  const target = readTarget(flags, process.env);
  if (target !== null && patches.length > 0)
    throw new UsageError(
      "--fault and --variant change the embedded server only; a target of your own cannot have them.",
    );
  const load = readNightWish(flags, target);
  const scope = readScope(flags);
  const engines = await findEngines();
  if (load !== null) assertLoadParameters({ ...defaultLoadParameters, ...load }, target, engines);
  const prepared = prepareNight(flags);
  const interruption = onInterruption();
  try {
    const view = nightEvents(flags.quiet === true);
    const asked = { ...scope, target, patches, load, engines, agree: () => flags.yes === true, view };
    const kept = await runNight({ ...asked, ...prepared, signal: interruption.signal });
    if (kept.kind === "interrupted") {
      process.stderr.write("Interrupted: the night is not kept in the history.\n");
      return exitCodes.interrupted;
    }
    presentNight(kept, prepared);
    return nightExitCode(kept, flags.onlyRegressions === true);
  } finally {
    interruption.release();
  }
}

/**
 * What a person said of the load; `null` where none is to be sent.
 *
 * @throws {UsageError} where the target is somebody's and nobody has agreed to load: a nightly job has nobody to ask
 */
function readNightWish(flags: NightlyFlags, target: Target | null): RunNightOptions["load"] {
  if (!flags.load) {
    if (flags.scenario.length > 0) throw new UsageError("--scenario and --no-load exclude each other.");
    return null;
  }
  if (target !== null && needsConsent(target.baseUrl, flags.yes === true))
    throw new UsageError(
      `${target.baseUrl} is not this machine: give --yes if its owner agrees to load every night, or --no-load. Nothing was sent.`,
    );
  return { ...defaultLoadParameters, scenarios: flags.scenario, engine: readEngine(flags.engine) ?? "first" };
}

function prepareNight(
  flags: NightlyFlags,
): Pick<RunNightOptions, "history" | "keep" | "rules" | "page"> & NightOutputs {
  const { html = null, markdown = null, json = null } = flags;
  if (markdown === "-" && json === "-")
    throw new UsageError("--markdown and --json cannot both be printed: give one of them a file.");
  if (html === "-") throw new UsageError("--html takes a file: `conformance trend` prints the page.");
  const keep = { nights: readCount(flags.keep, "--keep"), reports: readCount(flags.keepReports, "--keep-reports") };
  const rules = readRegressionRules(flags.regression);
  const history = prepareFolder(flags.history, "--history");
  prepareFolder(nightsFolder(history), "--history");
  prepareFile(join(history, trendFile), "--history");
  const file = (path: string | null, flag: string): string | null =>
    path === null || path === "-" ? path : prepareFile(path, flag);
  return {
    history,
    keep,
    rules,
    page: file(html, "--html"),
    markdown: file(markdown, "--markdown"),
    json: file(json, "--json"),
  };
}
