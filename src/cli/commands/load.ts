import { Command } from "commander";

import {
  assertLoadParameters,
  defaultScenarios,
  defaultScenariosOnTarget,
  k6OperatorManifest,
  type LoadParameters,
  planLoad,
} from "../../app/load/plan-load.ts";
import { findEngines } from "../../app/load/available-engines.ts";
import { describeInvalidTrials } from "../../report/model/load-results.ts";
import { judgeSavedLoad } from "../../app/load/judge-saved-load.ts";
import type { RedactedLoad } from "../../app/load/save-load.ts";
import { type LoadEvents, type NotSentLoad, sendLoad } from "../../app/load/send-load.ts";
import { safeLine, line, UsageError } from "../../base/line.ts";
import type { Target } from "../../target/target.ts";
import { printResult, withSteps } from "../command.ts";
import { askConsent, assertConsentPossible } from "../ask-user.ts";
import { exitCodes } from "../../base/process-end.ts";
import { untilInterrupted } from "../interruption.ts";
import { listedScenarios, scenarioListText } from "../load/list-text.ts";
import { dashboardOf, type LoadFlags, loadOptions, readLoadParameters, targetFlagsOf } from "../load/load-flags.ts";
import { formatLoadPreview, formatNotSentReason, notSentExitCode, withLoadSteps } from "../load/load-messages.ts";
import { showLoadProgress } from "../load/progress.ts";
import { printLine, printText, reportUnwrittenOutput } from "../print-line.ts";
import { registerSecrets } from "../errors.ts";
import { cliMessages } from "../messages.ts";
import { type FlagsOf, readDuration, readRequirements, requirementsOption, withOptions } from "../options.ts";
import { displayPath, prepareFile } from "../output-files.ts";
import {
  failureOptions,
  type FormatFlags,
  formatOptions,
  prepareFormats,
  prepareReport,
  readFailurePolicy,
} from "../report/report-flags.ts";
import { loadExitCode, presentReport } from "../report/present-report.ts";
import { limitYoungGeneration } from "../runtime.ts";
import { patchFlagsText, readFaultsAndVariants, readTarget } from "../target-flags.ts";
import { terminalOf } from "../terminal.ts";

const examples = `
Without names: ${defaultScenarios.join(", ")} on the embedded server;
${defaultScenariosOnTarget.join(", ")} on a target of yours.

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
reached, died or was away, nothing was exercised, or a run was invalid; 4 the harness itself failed, or an output could not be written; 130
interrupted (the report so far is written).`;

/** `conformance load`: sends load, and judges rate limits by the responses. */
export function loadCommand(): Command {
  const command = new Command("load").argument("[scenario...]", "scenarios, by name: `conformance load list`");
  // Flags after a subcommand belong to the subcommand. Otherwise, `load list --json` would set the `--json` of `load`.
  withOptions(command, loadOptions, formatOptions(["report", "files"]))
    .enablePositionalOptions()
    .addHelpText("after", examples);
  return withLoadSteps(command, { prepare, act, present }).addCommand(listCommand()).addCommand(judgeCommand());
}

type Prepared = Awaited<ReturnType<typeof prepare>>;
type Outputs = NonNullable<Prepared["outputs"]>;

async function prepare(names: readonly string[], flags: LoadFlags) {
  const parameters = readLoadParameters(names, flags);
  if (flags.emit !== undefined && flags.emit !== "k6-operator")
    throw new UsageError(line`--emit is ${JSON.stringify(flags.emit)}; there is k6-operator.`);
  const target = readTarget(targetFlagsOf(flags));
  const patches = readFaultsAndVariants(flags, target);
  const outputs = flags.emit === undefined ? await prepareOutputs(flags, parameters, target) : null;
  return { flags, parameters, target, patches, outputs };
}

async function prepareOutputs(flags: LoadFlags, parameters: LoadParameters, target: Target | null) {
  if (target !== null) assertConsentPossible(target.baseUrl, flags.yes === true);
  const engines = await findEngines();
  assertLoadParameters(parameters, target, engines);
  limitYoungGeneration();
  return {
    engines,
    dashboardFile: flags.k6Dashboard === undefined ? null : prepareFile(flags.k6Dashboard, "--k6-dashboard"),
    ...prepareReport(flags, target?.name ?? "embedded", "load-"),
  };
}

type LoadOutcome =
  | { readonly kind: "manifest"; readonly text: string }
  | ({ readonly kind: "sent"; readonly isInterrupted: boolean } & RedactedLoad)
  | NotSentLoad;

const act = async (prepared: Prepared): Promise<LoadOutcome> =>
  prepared.outputs === null ? { kind: "manifest", text: manifest(prepared) } : sendTo(prepared, prepared.outputs);

function manifest({ parameters, target }: Prepared): string {
  if (target === null)
    throw new UsageError(line`--emit needs a target that pods can reach: give --base-url or --target.`);
  const plan = planLoad({ ...parameters, engine: "k6" }, target, ["k6"]);
  return k6OperatorManifest(plan, target, parameters.segments, cliMessages);
}

const sendTo = (
  { flags, parameters, target, patches }: Prepared,
  { engines, folder, dashboardFile }: Outputs,
): Promise<LoadOutcome> =>
  untilInterrupted(async ({ signal, isInterrupted, interrupt }) => {
    const sent = await sendLoad(
      {
        ...parameters,
        target,
        patches,
        engines,
        signal,
        messages: cliMessages,
        events: eventsFor(target, flags.quiet === true),
        agree: () => flags.yes === true || askConsent({ signal, interrupt }),
        dashboardOf: (trial, trials) => dashboardOf(dashboardFile, trial, trials),
      },
      folder,
    );
    return sent.kind === "sent" ? { ...sent, isInterrupted: isInterrupted() } : sent;
  });

function eventsFor(target: Target | null, isQuiet: boolean): LoadEvents {
  return {
    ...showLoadProgress(process.stderr, isQuiet),
    planned: (preview, provided) => {
      // Keeps keys out of error messages. `provided` can contain keys that the target's test-control API has just
      // issued.
      registerSecrets(provided);
      if (target !== null || !isQuiet) terminalOf(process.stderr).write(formatLoadPreview(preview));
    },
    problem: reportUnwrittenOutput,
  };
}

async function present(outcome: LoadOutcome, prepared: Prepared): Promise<number> {
  const { outputs } = prepared;
  if (outcome.kind === "manifest" || outputs === null) {
    if (outcome.kind === "manifest") process.stdout.write(outcome.text);
    return exitCodes.fine;
  }
  if (outcome.kind === "not sent") return presentNotSent(outcome, prepared, outputs);
  await presentLoad(outcome, prepared, outputs);
  return outcome.isInterrupted ? exitCodes.interrupted : loadExitCode(outcome.document.report, outputs.rules);
}

async function presentNotSent({ why, kept }: NotSentLoad, prepared: Prepared, outputs: Outputs): Promise<number> {
  if (kept !== null) await presentLoad(kept, prepared, outputs, process.stderr);
  const code = notSentExitCode(why);
  if (code !== null) return code;
  if (why.kind !== "not agreed") throw new UsageError(safeLine(formatNotSentReason(why)));
  printLine(line`No load was sent.`);
  return exitCodes.usage;
}

async function presentLoad(
  { document, digests, folder }: RedactedLoad,
  { flags, target, patches }: Prepared,
  { formats, rules }: Outputs,
  stream?: NodeJS.WriteStream,
): Promise<void> {
  await presentReport(document, {
    digests: () => digests,
    isQuiet: flags.quiet === true,
    folder: folder === null ? null : displayPath(folder),
    formats,
    rules,
    ...(stream && { stream }),
    reproduction: { target, targetFile: flags.target ?? null, patchFlags: patchFlagsText(patches) },
    notes: [describeInvalidTrials(document.report)].filter((sentence) => sentence !== null),
    reportsToCi: true,
  });
}

const listOptions = { "--json": "as JSON" } as const;

const listCommand = (): Command =>
  withSteps(
    withOptions(
      new Command("list").description("List the load scenarios: what each shows, and what it needs."),
      listOptions,
    ).addHelpText("after", "\nExamples:\n  conformance load list\n  conformance load list --json | jq '.[].name'"),
    {
      prepare: ({ json }: FlagsOf<typeof listOptions>) => json === true,
      act: (isJson) =>
        isJson ? `${JSON.stringify(listedScenarios(), null, 2)}\n` : scenarioListText(process.stdout.columns ?? 120),
      present: printResult,
    },
  );

const judgeOptions = {
  "--json": "print the report",
  "--clocks-apart <t>": {
    help: "how far the clocks of the machines that sent segments may be apart",
    default: "250ms",
  },
  ...requirementsOption,
  "-q, --quiet": "only what is broken, and the verdict",
  ...failureOptions,
} as const;

type JudgeFlags = FlagsOf<typeof judgeOptions> & Omit<FormatFlags, "json">;

const judgeExamples = `
Examples:
  conformance load judge reports/2026-01-31T02-00-00-000Z-acme-load
  conformance load judge pod-1.log pod-2.log --html load.html`;

function judgeCommand(): Command {
  const command = new Command("judge")
    .argument("<evidence...>", "files of load evidence, logs of k6 pods, or the folder of a load report")
    .description("Judge saved load evidence again. Files of one scenario, tier and engine are merged as segments.")
    .addHelpText("after", judgeExamples);
  return withSteps(withOptions(command, judgeOptions, formatOptions(["report"])), {
    prepare: (paths: readonly string[], { json, quiet, clocksApart, ...flags }: JudgeFlags) => ({
      paths,
      isQuiet: quiet === true,
      rules: readFailurePolicy(flags),
      formats: prepareFormats(json === true ? { ...flags, json: "-" } : flags),
      clocksApartMs: readDuration(clocksApart, "--clocks-apart"),
      requirements: readRequirements(flags),
    }),
    act: ({ paths, clocksApartMs, requirements }) => judgeSavedLoad(paths, clocksApartMs, requirements),
    present: async (document, { isQuiet, rules, formats }) => {
      await presentReport(document, {
        isQuiet,
        folder: null,
        formats,
        rules,
        ...(formats.isStdoutTaken && { stream: null }),
      });
      const code = loadExitCode(document.report, rules);
      if (code === exitCodes.nothingExercised)
        printText(describeInvalidTrials(document.report) ?? "Nothing was exercised.");
      return code;
    },
  });
}
