import { join } from "node:path";

import { Command } from "commander";

import { nightId, nightsIn, readHistory, trendFile } from "../../history/store.ts";
import { defaultKinds } from "../../compare/rules.ts";
import { readTarget, type TargetFlags } from "../../target/flags.ts";
import { UsageProblem } from "../../target/problem.ts";
import type { Target } from "../../target/target.ts";
import { readRegressionRules } from "../comparing/regression-rules.ts";
import { readCount } from "../duration.ts";
import { exitCodes } from "../exit-codes.ts";
import { onInterruption } from "../interruption.ts";
import { findEngines } from "../../app/load/engines.ts";
import { finishNight, tellDamaged, type Telling } from "../../app/nightly/finish-night.ts";
import { liveNight, nameOf, type NightPlan } from "../../app/nightly/live-night.ts";
import { checkLoad, readLoadChoice } from "../../app/nightly/plan-night.ts";
import { prepareFile, prepareFolder } from "../output.ts";
import { readPatches } from "../../embedded/patches.ts";
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

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

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
  const command = new Command("nightly").description("Run, load, compare with the nights before, and keep the night.");
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
    .option("--regression <list>", `which findings count as worse, as of compare (default: ${defaultKinds.join(",")})`)
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
      process.exitCode = await nightly(flags);
    });
}

/** Everything that can be wrong is found before anything is sent. */
async function nightly(flags: NightlyFlags): Promise<number> {
  const patches = readPatches(flags.fault, flags.variant);
  const target = readTarget(flags, process.env);
  if (target !== null && patches.length > 0)
    throw new UsageProblem(
      "--fault and --variant change the embedded server only; a target of your own cannot have them.",
    );
  const choice = readLoadChoice(flags, target);
  const asked = { ...readScope(flags), isQuiet: flags.quiet === true };
  const engines = await findEngines();
  if (choice !== null) checkLoad(choice, target, engines);
  const telling = tellingOf(flags);
  const history = readHistory(telling.folder, Date.now());
  demandSameTarget(history.nights.at(-1)?.target.name ?? null, target, telling.folder);
  tellDamaged(history.damaged);
  const interruption = onInterruption();
  try {
    const plan: NightPlan = {
      ...asked,
      id: nightId(new Date()),
      history: history.nights,
      folder: telling.folder,
      target,
      patches,
      choice,
      engines,
      signal: interruption.signal,
    };
    const lived = await liveNight(plan);
    if (!lived.interrupted) return finishNight(lived, history, telling);
    process.stderr.write("Interrupted: the night is not kept in the history.\n");
    return exitCodes.interrupted;
  } finally {
    interruption.release();
  }
}

function tellingOf(flags: NightlyFlags): Telling {
  const { html = null, markdown = null, json = null } = flags;
  if (markdown === "-" && json === "-")
    throw new UsageProblem("--markdown and --json cannot both be printed: give one of them a file.");
  if (html === "-") throw new UsageProblem("--html takes a file: `conformance trend` prints the page.");
  const keep = { nights: readCount(flags.keep, "--keep"), reports: readCount(flags.keepReports, "--keep-reports") };
  const rules = readRegressionRules(flags.regression);
  const folder = prepareFolder(flags.history, "--history");
  prepareFolder(nightsIn(folder), "--history");
  prepareFile(join(folder, trendFile), "--history");
  const file = (path: string | null, flag: string): string | null =>
    path === null || path === "-" ? path : prepareFile(path, flag);
  return {
    folder,
    keep,
    rules,
    onlyRegressions: flags.onlyRegressions === true,
    html: file(html, "--html"),
    markdown: file(markdown, "--markdown"),
    json: file(json, "--json"),
  };
}

/** Nights of two targets in one history would be regressions of each other. */
function demandSameTarget(before: string | null, target: Target | null, folder: string): void {
  if (before === null || before === nameOf(target)) return;
  throw new UsageProblem(
    `${folder} is the history of ${JSON.stringify(before)}, and this target is ${JSON.stringify(nameOf(target))}: give each target its own --history, or the name that it had.`,
  );
}
