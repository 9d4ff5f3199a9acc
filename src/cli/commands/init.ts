import { Command } from "commander";

import { type ControlParts, detectControl, type DetectedControl, discoverForInit } from "../../app/init/discover.ts";
import {
  keyFromAnswers,
  proposeTargetFile,
  type UserAnswersBeforeDiscovery,
  targetFromAnswers,
} from "../../app/init/propose-target-file.ts";
import { redactorWithAlteredKeys } from "../../app/judge/redactor.ts";
import { secretsOf } from "../../app/judge/secrets.ts";
import { planRun } from "../../app/plan/run-plan.ts";
import { line, UsageError } from "../../base/line.ts";
import { defaultBounds } from "../../run/plan/bounds.ts";
import { newestRequirements } from "../../spec/clause.ts";
import { suites } from "../../suites/all.ts";
import type { ParsedTargetFile } from "../../target/target-file-schema.ts";
import { clockOverHttp } from "../../target/control-calls.ts";
import { openPathsOf, triggersOf } from "../../target/target-file.ts";
import { withControlParts } from "../../target/test-control.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { registerKey, registerSecrets } from "../errors.ts";
import {
  askPaths,
  askPrompts,
  assertInitFlags,
  chooseAgents,
  gatherAnswers,
  type GivenControlToken,
  type InitFlags,
  initOptions,
  readControlToken,
  writeFileAtomically,
} from "../init/answers.ts";
import {
  formatMissingParts,
  controlText,
  discoverySummary,
  Interrupted,
  openPrompter,
  type Prompter,
  proposalText,
} from "../init/dialog.ts";
import { type Interruption, untilInterrupted } from "../interruption.ts";
import { cliMessages } from "../messages.ts";
import { canAsk } from "../ask-user.ts";
import { withOptions } from "../options.ts";
import { terminalOf } from "../terminal.ts";
import { printText } from "../print-line.ts";

const examples = `
Examples:
  conformance init
  ACME_KEY=… conformance init --base-url https://api.acme.example/v1 --key-variable ACME_KEY --out acme.json --yes

Exit codes: 0 written, or not wanted; 2 usage; 3 the target could not be reached, or is none; 130 interrupted (nothing is written).`;

/** `conformance init`: asks questions, sends a few GET requests to the target, and writes a target file. */
export function initCommand(): Command {
  return withSteps(withOptions(new Command("init"), initOptions).addHelpText("after", examples), {
    prepare,
    act: init,
    present: (exitCode) => exitCode,
  });
}

type InitWork = ReturnType<typeof prepare>;

function prepare(flags: InitFlags) {
  assertInitFlags(flags);
  return { flags, controlToken: readControlToken(flags, process.env) };
}

function init({ flags, controlToken }: InitWork): Promise<number> {
  return untilInterrupted(async (interruption) => {
    const prompter = openTerminalPrompter(interruption);
    try {
      const answers = await gatherAnswers(flags, process.env, prompter);
      return await proposeFile(answers, { flags, controlToken }, prompter, interruption.signal);
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      printText("Interrupted; nothing was written.");
      return exitCodes.interrupted;
    } finally {
      prompter?.close();
    }
  });
}

function openTerminalPrompter({ signal, interrupt }: Interruption): Prompter | null {
  if (!canAsk()) return null;
  return openPrompter({
    input: process.stdin,
    output: process.stderr,
    isTerminal: true,
    signal,
    onInterrupt: interrupt,
  });
}

async function proposeFile(
  answers: UserAnswersBeforeDiscovery,
  { flags, controlToken }: InitWork,
  prompter: Prompter | null,
  signal: AbortSignal,
): Promise<number> {
  const namedTier = flags.tier ?? null;
  const target = registerSecrets(targetFromAnswers(answers, namedTier, null));
  const redact = redactorWithAlteredKeys(secretsOf(target)).text;
  const { style, write: writeOut } = terminalOf(process.stdout);
  const print = (text: string): void => writeOut(redact(text));
  const discovery = await discoverForInit({
    target,
    key: keyFromAnswers(answers, namedTier),
    messages: cliMessages,
    signal,
    onWait: (ms, why) => printText(redact(`waiting ${Math.ceil(ms / 1000)} s: ${why}`)),
  });
  if (discovery.kind !== "found") {
    printText(redact(discovery.sentence));
    return signal.aborted ? exitCodes.interrupted : exitCodes.nothingExercised;
  }
  print(discoverySummary(answers.baseUrl, discovery.target, discovery.requests, style));
  const detected = await controlOf(answers, controlToken);
  if (detected !== null) print(controlText(detected, style));
  const control: ControlParts = detected?.kind === "found" ? detected.parts : {};
  const agents = await chooseAgents(flags, { discovered: discovery.target, control }, prompter, redact);
  const prompts = await askPrompts(flags, agents, prompter);
  const paths = await askPaths(flags, prompter);
  const tier = namedTier ?? discovery.target.tier;
  const file = proposeTargetFile(answers, discovery.target, { agents, prompts, paths, tier, control });
  const text = `${JSON.stringify(file, null, 2)}\n`;
  print(proposalText(answers.out, file, text, style));
  print(formatMissingParts(await missingParts(answers, tier, file, controlToken), style));
  return writeFile(answers, text, flags, prompter);
}

async function controlOf(
  { baseUrl, network }: UserAnswersBeforeDiscovery,
  given: GivenControlToken | null,
): Promise<DetectedControl | null> {
  if (given === null) return null;
  registerKey(given.token);
  return detectControl({ baseUrl, network, ...given });
}

async function missingParts(
  answers: UserAnswersBeforeDiscovery,
  tier: string | null,
  file: ParsedTargetFile,
  controlToken: GivenControlToken | null,
) {
  const target = {
    ...targetFromAnswers(answers, tier, file.agents ?? {}),
    paths: openPathsOf(file.paths),
    clock: file.clock === undefined ? null : clockOverHttp(file.clock, answers.network),
    triggers: triggersOf(file.triggers, answers.network),
    control:
      file.control === undefined || controlToken === null ? null : { ...file.control, token: controlToken.token },
  };
  const provided = await withControlParts(target, "assume");
  const planned = await planRun({
    ...defaultBounds,
    target: provided.kind === "provided" ? provided.target : target,
    suites,
    requirements: newestRequirements,
    messages: cliMessages,
  });
  return planned?.skipped ?? [];
}

async function writeFile(
  { out, keyVariable }: UserAnswersBeforeDiscovery,
  text: string,
  flags: InitFlags,
  prompter: Prompter | null,
): Promise<number> {
  const isWanted = flags.yes === true || prompter === null || (await prompter.ask(yesOrNo(`Write ${out}? (y/n)`)));
  if (!isWanted) {
    terminalOf(process.stdout).write("Nothing was written.\n");
    return exitCodes.fine;
  }
  writeFileAtomically(out, text, flags.force === true);
  const isKeySet = (process.env[keyVariable] ?? "") !== "";
  terminalOf(process.stdout).write(
    [
      `Written: ${out}`,
      ...(isKeySet ? [] : [`It takes the key from $${keyVariable}, which is not set yet: export ${keyVariable}=…`]),
      `Next: conformance plan --target ${out}, then conformance run --target ${out}`,
      "",
    ].join("\n"),
  );
  return exitCodes.fine;
}

const yesOrNo = (text: string) => ({
  text,
  fallback: "y",
  read: (answer: string): boolean => {
    if (/^y(es)?$/i.test(answer)) return true;
    if (/^no?$/i.test(answer)) return false;
    throw new UsageError(line`${JSON.stringify(answer)} is neither y nor n.`);
  },
});
