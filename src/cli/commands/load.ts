import { Command } from "commander";

import { defaultScenarios, defaultScenariosInRealTime } from "../../app/load/choose-scenarios.ts";
import { findEngines } from "../../app/load/engines.ts";
import { invalidText } from "../../app/load/invalid-text.ts";
import type { LoadEvents } from "../../app/load/load-events.ts";
import { manifestOf } from "../../app/load/manifest.ts";
import { assertLoadParameters, planLoad } from "../../app/load/plan-load.ts";
import type { SentLoad } from "../../app/load/save-load.ts";
import { sendLoad, type NotSentLoad } from "../../app/load/send-load.ts";
import type { LoadParameters } from "../../app/load/load-parameters.ts";
import type { LoadTrial } from "../../load/trials.ts";
import { patchesByName } from "../../reference/embedded/patches-by-name.ts";
import type { Patch } from "../../reference/patch.ts";
import { readTarget } from "../read-target.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { Target } from "../../target/target.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Interruption, onInterruption } from "../interruption.ts";
import { askConsent, assertConsentPossible } from "../consent.ts";
import { formatLoadPreview } from "../load/preview.ts";
import { loadExitCode } from "../load/exit-code.ts";
import { judgeCommand } from "../load/judge-command.ts";
import { listedScenarios, listText } from "../load/list-text.ts";
import { type LoadFlags, readLoadParameters, targetFlagsOf, withLoadOptions } from "../load/load-flags.ts";
import { cliMessages } from "../messages.ts";
import { withCliMessages, formatNotSent } from "../load/not-sent.ts";
import { dashboardOf, prepareLoad, type PreparedLoad } from "../load/prepare-load.ts";
import { showLoadProgress } from "../load/progress.ts";
import { showLoad } from "../load/show-load.ts";
import { limitYoungGeneration } from "../v8-flags.ts";
import { displayPath } from "../nearer.ts";
import { reportToCi } from "../report/ci.ts";
import { writeFormats } from "../report/write-formats.ts";
import { terminalOf } from "../terminal.ts";

const examples = `
Without names: ${defaultScenarios.join(", ")} on the embedded server;
${defaultScenariosInRealTime.join(", ")} on a target of yours.

Examples:
  conformance load                                          the embedded server, within a minute
  conformance load --all                                    every scenario, k6 and autocannon in turns
  conformance load burst --tier pro --engine k6 --segments 2
  conformance load concurrency --target acme.json --yes
  conformance load burst --html load.html --junit junit.xml
  conformance load list
  conformance load judge reports/2026-01-31T02-00-00-000Z-load-embedded
  conformance load hour-limit --target acme.json --tier pro --segments 4 --emit k6-operator | kubectl apply -f -

Exit codes: 0 nothing broken; 1 a must, or a demand of load, is broken; 2 usage, or nobody agreed to the load; 3 the target could not be
reached, nothing was exercised, or a run was invalid; 4 the harness itself failed; 130 interrupted (the report so far is written).`;

/** `conformance load`: sends load, and judges the limits by what came of it. */
export function loadCommand(): Command {
  const command = new Command("load").argument("[scenario...]", "scenarios, by name: `conformance load list`");
  return (
    withLoadOptions(command)
      // `list` and `judge` have a --json of their own.
      .enablePositionalOptions()
      .addHelpText("after", examples)
      .action(async (names: string[], flags: LoadFlags) => {
        process.exitCode = await withCliMessages(() => load(names, flags));
      })
      .addCommand(listCommand())
      .addCommand(judgeCommand())
  );
}

function listCommand(): Command {
  return new Command("list")
    .description("List the load scenarios: what each shows, and what it needs.")
    .option("--json", "as JSON")
    .addHelpText("after", "\nExamples:\n  conformance load list\n  conformance load list --json | jq '.[].name'")
    .action(({ json }: { readonly json?: boolean }) => {
      const text =
        json === true ? `${JSON.stringify(listedScenarios(), null, 2)}\n` : listText(process.stdout.columns ?? 120);
      process.stdout.write(text);
    });
}

/** Everything that can be wrong is found before anything is sent or written. */
async function load(names: readonly string[], flags: LoadFlags): Promise<number> {
  const patches = patchesByName(flags.fault, flags.variant);
  const wish = readLoadParameters(names, flags);
  if (flags.emit !== undefined && flags.emit !== "k6-operator")
    throw new UsageError(`--emit is ${JSON.stringify(flags.emit)}; there is k6-operator.`);
  const target = readTarget(targetFlagsOf(flags, process.env), process.env);
  if (target !== null && patches.length > 0)
    throw new UsageError(
      "--fault and --variant change the embedded server only; a target of your own cannot have them.",
    );
  if (flags.emit !== undefined) return emit(wish, target);
  if (target !== null) assertConsentPossible(target.baseUrl, flags.yes === true);
  const engines = await findEngines();
  assertLoadParameters(wish, target, engines);
  limitYoungGeneration();
  const prepared = prepareLoad(flags, target);
  const interruption = onInterruption();
  try {
    const options = { ...wish, target, patches, engines, signal: interruption.signal };
    const view = viewOf(target, flags.quiet === true);
    const agree = (): Promise<boolean> => isAgreed(flags, interruption);
    const pageOf = (trial: LoadTrial, trials: number): string | null =>
      dashboardOf(prepared.dashboardFile, trial, trials);
    const sent = await sendLoad(
      { ...options, messages: cliMessages, view, agree, dashboardOf: pageOf },
      prepared.folder,
    );
    const showing = { target, patches, flags };
    if (sent.kind === "not sent") return tellNotSent(sent, prepared, showing);
    present(sent, prepared, showing);
    if (interruption.signal.aborted) return exitCodes.interrupted;
    return loadExitCode(sent.document.report, prepared.rules);
  } finally {
    interruption.release();
  }
}

function emit(wish: LoadParameters, target: Target | null): number {
  if (target === null) throw new UsageError("--emit needs a target that pods can reach: give --base-url or --target.");
  const plan = planLoad({ ...wish, engine: "k6" }, target, ["k6"]);
  process.stdout.write(manifestOf(plan, target, wish.segments, cliMessages));
  return exitCodes.fine;
}

/** What is going to be sent comes first, in any case; where load goes to somebody's server, even when quiet. */
function viewOf(target: Target | null, isQuiet: boolean): LoadEvents {
  return {
    ...showLoadProgress(process.stderr, isQuiet),
    planned: (outlook) => {
      if (target !== null || !isQuiet) terminalOf(process.stderr).write(formatLoadPreview(outlook));
    },
    problem: (sentence) => void process.stderr.write(`${sentence}\n`),
  };
}

const isAgreed = ({ yes }: LoadFlags, { signal, interrupt }: Interruption): Promise<boolean> =>
  yes === true ? Promise.resolve(true) : askConsent(signal, interrupt);

/** A report is there, and every format that was asked for, unless the choice itself was at fault. */
function tellNotSent({ why, kept }: NotSentLoad, prepared: PreparedLoad, showing: Presenting): number {
  switch (why.kind) {
    case "interrupted":
    case "nothing to load":
    case "unsendable agent":
      if (kept !== null) present(kept, prepared, showing, process.stderr);
      return why.kind === "interrupted" ? exitCodes.interrupted : exitCodes.nothingExercised;
    case "not agreed":
      process.stderr.write("No load was sent.\n");
      return exitCodes.usage;
    case "unknown scenario":
    case "no engine":
    case "no tier":
    case "no key of the tier":
    case "nothing to send":
    case "several runs":
    case "lacks what it needs":
    case "read only":
      throw new UsageError(formatNotSent(why));
  }
}

interface Presenting {
  readonly target: Target | null;
  readonly patches: readonly Patch[];
  readonly flags: LoadFlags;
}

function present(
  sent: SentLoad,
  { formats, rules }: PreparedLoad,
  { target, patches, flags }: Presenting,
  stream: NodeJS.WriteStream = formats.isStdoutTaken ? process.stderr : process.stdout,
): void {
  const { document, digests, folder } = sent;
  const problems = writeFormats(document, formats, { rules, digests: () => digests });
  showLoad(document, {
    stream,
    rules,
    isQuiet: flags.quiet === true,
    folder: folder === null ? null : displayPath(folder),
    again: {
      target,
      targetFile: flags.target ?? null,
      patchFlags: patches.map(({ kind, name }) => ` --${kind} ${name}`).join(""),
    },
  });
  for (const sentence of [invalidText(document.report), ...problems])
    if (sentence !== null) process.stderr.write(`${sentence}\n`);
  reportToCi(document, rules, formats.isStdoutTaken);
}
