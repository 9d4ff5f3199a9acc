import { setTimeout as sleep } from "node:timers/promises";

import { Command } from "commander";

import { judgeTarget, type JudgedTarget } from "../../app/judge/judge-target.ts";
import { secretsOf, webhookSecretNames } from "../../app/judge/secrets.ts";
import { documentOf } from "../../app/report-folder/saved-report.ts";
import { writeFirstState } from "../../app/watch/watch-files.ts";
import { isLoopback } from "../../base/network/network.ts";
import type { Patch } from "../../reference/patch.ts";
import type { Report, ReportDocument } from "../../report/model/report.ts";
import type { Target } from "../../target/target.ts";
import { acceptsConnection } from "../../wire/accepts-connection.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { untilInterrupted } from "../interruption.ts";
import { prepareLockedFolder } from "../output-files.ts";
import { askTier } from "../ask-user.ts";
import { judgeWithProgress } from "../progress.ts";
import { type FlagsOf, withOptions } from "../options.ts";
import { formatOptions, prepareReport, type ReportFlags, reportOptions } from "../report/report-flags.ts";
import { presentOptionsOf, presentReport, reportExitCode } from "../report/present-report.ts";
import { limitYoungGeneration } from "../runtime.ts";
import { failedOption, readScope, scopeAndBoundOptions, scopeOfFailed, type ScopeFlags } from "../scope-flags.ts";
import {
  type PatchFlags,
  patchFlagsText,
  faultAndVariantOptions,
  readFaultsAndVariants,
  readTarget,
  type TargetFlags,
  targetOptions,
} from "../target-flags.ts";
import { formatUsageError } from "../errors.ts";
import { formatResumeHint, watchInTerminal } from "../watch/terminal-watch.ts";
import { printLine } from "../print-line.ts";
import { line, UsageError } from "../../base/line.ts";

const runOptions = {
  "--fail-fast": "stop at the first must clause that is broken, and report what was judged by then",
  "--rerun-on-restart": "repeat what failed, else the run, each time the target was away and is back; Ctrl-C ends it",
  "--watch": "go on listening until the retry schedule of webhooks is over, up to five hours, and judge then",
  "-v, --verbose": "every table, such as coverage, although something is broken",
} as const;

type RunFlags = FlagsOf<typeof runOptions> & TargetFlags & ScopeFlags & PatchFlags & ReportFlags;

const examples = `
Examples:
  conformance run                                            the embedded reference server
  CONFORMANCE_API_KEY=… conformance run --base-url https://api.example.com/v1
  conformance run --target acme.json --only 'SSE-*' --only Errors
  conformance run --target acme.json --failed reports/2026-01-31T02-00-00-000Z-acme
  conformance run --target acme.json --json - | jq .verdict
  conformance run --target acme.json --html acme.html --junit junit.xml

In GitHub Actions, a step summary and annotations are written automatically.

Exit codes: 0 conformant, or partial (nothing broken); 1 a must is broken; 2 usage; 3 the target could not be reached, or nothing was
exercised, or a must or should clause that --only names by its id was not; 4 the harness itself failed, or an output could not be written;
130 interrupted (the report so far is written).`;

/** `conformance run`: judges a target, or the embedded reference server if no target is given. */
export function runCommand(): Command {
  const tables = [targetOptions, scopeAndBoundOptions, failedOption, reportOptions, formatOptions(), runOptions];
  const command = withOptions(new Command("run"), ...tables, faultAndVariantOptions).addHelpText("after", examples);
  return withSteps(command, { prepare, act, present });
}

type Prepared = ReturnType<typeof prepare>;

function prepare(flags: RunFlags) {
  limitYoungGeneration();
  const target = readTarget(flags);
  const patches = readFaultsAndVariants(flags, target);
  const scope = readScope(flags);
  if (flags.rerunOnRestart === true && target === null)
    throw new UsageError(line`--rerun-on-restart needs a target: the embedded server is never restarted.`);
  if (flags.rerunOnRestart === true && flags.watch === true)
    throw new UsageError(line`--rerun-on-restart and --watch exclude each other: a restart may forget webhooks.`);
  return { flags, target, patches, scope, ...prepareReport(flags, target?.name ?? "embedded") };
}

interface RunOutcome {
  readonly judged: JudgedTarget;
  /** Report and evidence without webhook secrets. Texts and pages show this, not `judged`. */
  readonly document: ReportDocument;
  readonly isWatchStopped: boolean;
  readonly isPresented?: boolean;
}

const outcomeOf = (judged: JudgedTarget, isWatchStopped = false): RunOutcome => ({
  judged,
  document: documentOf(judged.report, judged.evidence),
  isWatchStopped,
});

async function act(prepared: Prepared): Promise<RunOutcome> {
  const { judged, hasFailed } = await judge(prepared);
  const isWatched = prepared.flags.watch === true && !hasFailed && !judged.interrupted && judged.kind === "judged";
  if (prepared.flags.rerunOnRestart === true) return rerunOnRestart(outcomeOf(judged), prepared);
  if (!isWatched) return outcomeOf(judged);
  try {
    return await watch(judged, prepared);
  } finally {
    await judged.listening?.live?.close();
  }
}

/** Maximum number of runs with `--rerun-on-restart`, because each run writes a new folder. */
const maxRuns = 1000;

async function rerunOnRestart(first: RunOutcome, prepared: Prepared): Promise<RunOutcome> {
  const { target, scope, folder } = prepared;
  let [outcome, current] = [first, prepared];
  for (let runs = 1; ; runs += 1) {
    await presentRun(outcome, current, false);
    if (target === null || runs === maxRuns || outcome.judged.interrupted) break;
    printLine(line`Waiting until ${target.baseUrl} is restarted. Ctrl-C ends this.`);
    const onAway = (): void => printLine(line`${target.baseUrl} is away.`);
    if (!(await untilInterrupted(({ signal }) => awaitRestart(target, signal, onAway)))) break;
    current = {
      ...prepared,
      scope: scopeOfFailed(scope, outcome.document, current.folder),
      folder: prepareLockedFolder(`${folder}-${runs + 1}`),
    };
    outcome = outcomeOf((await judge(current)).judged);
  }
  return { ...outcome, isPresented: true };
}

/** Milliseconds between two attempts to connect. On loopback, a longer pause could miss a quick restart. */
const pollMs = { loopback: 200, elsewhere: 2000 } as const;
const maxRestartWaitMs = 8 * 3_600_000;

/** Waits until a target refuses a connection and later accepts one. Returns `false` if aborted or after eight hours. */
async function awaitRestart({ baseUrl, network }: Target, signal: AbortSignal, onAway: () => void): Promise<boolean> {
  const untilMs = performance.now() + maxRestartWaitMs;
  let wasAway = false;
  while (!signal.aborted && performance.now() < untilMs) {
    const isUp = await acceptsConnection(baseUrl, network);
    if (isUp && wasAway) return !signal.aborted;
    if (!isUp && !wasAway) onAway();
    wasAway ||= !isUp;
    await sleep(pollMs[isLoopback(baseUrl) ? "loopback" : "elsewhere"], undefined, { signal }).catch(() => {});
  }
  return false;
}

const judge = ({ target, patches, scope, rules, flags }: Prepared) =>
  judgeWithProgress(flags.quiet === true, (interruption, { events }) =>
    judgeTarget({
      ...scope,
      target,
      patches,
      keepsListening: flags.watch === true,
      ...(flags.failFast === true && { failFast: { known: rules.baseline } }),
      signal: interruption.signal,
      events: { ...events, onUnknownTier: (keyName) => askTier(keyName, flags.quiet === true, interruption) },
    }),
  );

async function watch(judged: Extract<JudgedTarget, { kind: "judged" }>, prepared: Prepared): Promise<RunOutcome> {
  const { flags, folder } = prepared;
  const { report, evidence, listening, target } = judged;
  const unwatched = outcomeOf(judged);
  let isPresented = false;
  try {
    const watched = await watchInTerminal(
      {
        folder,
        state: writeFirstState(folder, listening, flags.target),
        live: listening?.live ?? null,
        kept: { report, evidence },
        secrets: secretsOf(target),
        onListening: () => {
          isPresented = true;
          return presentRun(unwatched, prepared, false);
        },
      },
      { isQuiet: flags.quiet === true },
    );
    return outcomeOf({ ...judged, ...watched.kept }, watched.kind === "interrupted");
  } catch (error) {
    // Prints why `--watch` could not start. `present` then prints the run's report.
    const usage = formatUsageError(error);
    if (usage === null || isPresented) throw error;
    printLine(usage);
    return unwatched;
  }
}

async function present(outcome: RunOutcome, prepared: Prepared): Promise<number> {
  const { judged, isWatchStopped } = outcome;
  if (outcome.isPresented !== true) await presentRun(outcome, prepared, true);
  if (isWatchStopped) {
    printLine(formatResumeHint(prepared.folder));
    return exitCodes.interrupted;
  }
  if (judged.interrupted) return exitCodes.interrupted;
  return reportExitCode(judged.report, prepared.rules, prepared.flags.complete === true);
}

async function presentRun({ judged, document }: RunOutcome, prepared: Prepared, isFinal: boolean): Promise<void> {
  const { report, target } = judged;
  await presentReport(document, {
    ...presentOptionsOf(judged, prepared),
    isVerbose: prepared.flags.verbose === true,
    shellVariableOf: (name) =>
      name === webhookSecretNames.name ? webhookSecretNames.variable : target.keys[name]?.variable,
    hint: prepared.target === null && isBroken(report) ? serveHint(target, prepared.patches) : "",
    isFinal,
  });
}

const isBroken = ({ totals }: Report): boolean => totals.fail + totals.warning + totals.note > 0;

const serveHint = ({ baseUrl }: Target, patches: readonly Patch[]): string =>
  `To see it by hand: conformance serve${patchFlagsText(patches)}, its base URL instead of ${baseUrl}, and its keys in the variables.\n`;
