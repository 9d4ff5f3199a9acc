import { Command } from "commander";

import { joinWithOr } from "../../base/text.ts";
import { publishedTierNames } from "../../spec/tiers.ts";
import { defaultBounds } from "../../run/plan/bounds.ts";
import { suites } from "../../suites/all.ts";
import type { ParsedTargetFile } from "../../target/file-schema.ts";
import { openPathsOf } from "../../target/file.ts";
import { UsageError } from "../../base/usage-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Answers, gatherAnswers, type InitFlags } from "../init/answers.ts";
import { absentText, foundText, proposalText } from "../init/explanation.ts";
import { discoverForInit } from "../init/look-around.ts";
import { Interrupted, openPrompter, type Prompter } from "../init/prompter.ts";
import { listedAgent } from "../init/listed-agent.ts";
import { type ChosenAgents, keyOf, suggestAgents, proposeFile, targetOf } from "../init/proposal.ts";
import { askPaths, askPrompts } from "../init/questions.ts";
import type { DiscoveredTarget } from "../init/surroundings.ts";
import { writeWhole } from "../init/write-file.ts";
import { withNetworkOptions } from "../network-flags.ts";
import { registerSecrets } from "../harness-errors.ts";
import { onInterruption } from "../interruption.ts";
import { planRun } from "../../app/plan/run-plan.ts";
import { redactorOf } from "../../app/judge/redactor.ts";
import { secretsOf } from "../../app/judge/target-secrets.ts";
import { terminalOf } from "../terminal.ts";
import { cliMessages } from "../messages.ts";

const examples = `
Examples:
  conformance init
  ACME_KEY=… conformance init --base-url https://api.acme.example/v1 --key-variable ACME_KEY --out acme.json --yes

Exit codes: 0 written, or not wanted; 2 usage; 3 the target could not be reached, or is none; 130 interrupted (nothing is written).`;

/** `conformance init`: asks, looks at the target, and writes a target file. */
export function initCommand(): Command {
  const command = new Command("init")
    .option("--base-url <url>", "address of the deployment, with or without /v1 (or CONFORMANCE_BASE_URL)")
    .option("--name <name>", "name of the target (otherwise its host)")
    .option("--key-variable <name>", "environment variable that holds the API key (otherwise CONFORMANCE_API_KEY)")
    .option("--api-key <key>", "the API key, where no variable holds it; it is not written")
    .option(
      "--tier <tier>",
      `tier of that key: ${joinWithOr(publishedTierNames)} (otherwise its headers tell, where they can)`,
    )
    .option("--agent <id>", "agent that answers (otherwise a healthy one of the list)")
    .option("--streaming-agent <id>", "agent that streams")
    .option("--failing-prompt <text>", "a query with which that agent fails, where you know one")
    .option("--slow-prompt <text>", "a query that takes some seconds to answer")
    .option("--slow-stream-prompt <text>", "a query that is streamed for some seconds")
    .option("--failing-stream-prompt <text>", "a query whose stream fails in the middle")
    .option("--batch-path <path>", "where a batch is posted, below the base URL; {agent_id} stands for an agent")
    .option("--operation-path <path>", "where a long-running operation is started, where that is not by a batch")
    .option("--out <file>", "file to write (otherwise target.json)")
    .option("--yes", "write without asking");
  return withNetworkOptions(command)
    .option("--force", "replace the file where it is there already")
    .addHelpText("after", examples)
    .action(async (flags: InitFlags) => {
      process.exitCode = await init(flags);
    });
}

async function init(flags: InitFlags): Promise<number> {
  const { signal, release } = onInterruption();
  const prompter = prompterOf(signal);
  try {
    const answers = await gatherAnswers(flags, process.env, prompter);
    return await propose(answers, flags, prompter, signal);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    process.stderr.write("\nInterrupted; nothing was written.\n");
    return exitCodes.interrupted;
  } finally {
    prompter?.close();
    release();
  }
}

/** `null` where there is nobody to ask. */
function prompterOf(signal: AbortSignal): Prompter | null {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  return openPrompter({
    input: process.stdin,
    output: process.stderr,
    isTerminal: true,
    signal,
    onInterrupt: () => void process.emit("SIGINT"),
  });
}

async function propose(
  answers: Answers,
  flags: InitFlags,
  prompter: Prompter | null,
  signal: AbortSignal,
): Promise<number> {
  const named = flags.tier ?? null;
  const target = registerSecrets(targetOf(answers, named, null));
  const redact = redactorOf(secretsOf(target)).text;
  const { look } = terminalOf(process.stdout);
  const say = (text: string): void => void process.stdout.write(redact(text));
  const looked = await discoverForInit({
    target,
    key: keyOf(answers, named),
    signal,
    onWait: (ms, why) => void process.stderr.write(redact(`waiting ${Math.ceil(ms / 1000)} s: ${why}\n`)),
  });
  if (looked.kind !== "found") {
    process.stderr.write(redact(`${looked.sentence}\n`));
    return signal.aborted ? exitCodes.interrupted : exitCodes.nothingExercised;
  }
  const { surroundings, requests } = looked;
  say(foundText(answers.baseUrl, surroundings, requests, look));
  const chosen = await chooseAgents(flags, surroundings, prompter, redact);
  const prompts = await askPrompts(flags, chosen, prompter);
  const paths = await askPaths(flags, prompter);
  const tier = named ?? surroundings.tier;
  const file = proposeFile(answers, surroundings, { chosen, prompts, paths, tier });
  const text = `${JSON.stringify(file, null, 2)}\n`;
  say(proposalText(answers.out, file, text, look));
  say(absentText(await absentParts(answers, tier, file), look));
  return write(answers, text, flags, prompter);
}

/** Flags first, then the person, then what the look speaks for. */
async function chooseAgents(
  flags: InitFlags,
  found: DiscoveredTarget,
  prompter: Prompter | null,
  redact: (text: string) => string,
): Promise<ChosenAgents> {
  const likely = suggestAgents(found);
  const listed = (id: string): string => listedAgent(id, found, redact);
  const choose = async (flag: string | undefined, text: string, fallback: string | null): Promise<string | null> => {
    if (flag !== undefined) return listed(flag);
    if (prompter === null || flags.yes === true) return fallback;
    return prompter.ask({
      text,
      fallback: fallback ?? "",
      read: (answer) => (answer === "" || answer === "-" ? null : listed(answer)),
    });
  };
  return {
    answering: await choose(flags.agent, "Agent that answers an invoke (- for none)", likely.answering),
    streaming: await choose(flags.streamingAgent, "Agent that answers a stream (- for none)", likely.streaming),
  };
}

async function absentParts(answers: Answers, tier: string | null, file: ParsedTargetFile) {
  const target = { ...targetOf(answers, tier, file.agents ?? {}), paths: openPathsOf(file.paths) };
  const planned = await planRun({ ...defaultBounds, target, suites, messages: cliMessages });
  return planned?.skipped ?? [];
}

async function write(answers: Answers, text: string, flags: InitFlags, prompter: Prompter | null): Promise<number> {
  const { out, keyVariable } = answers;
  const isWanted = flags.yes === true || prompter === null || (await prompter.ask(wanted(out)));
  if (!isWanted) {
    process.stdout.write("Nothing was written.\n");
    return exitCodes.fine;
  }
  writeWhole(out, text, flags.force === true);
  process.stdout.write(
    [
      `Written: ${out}`,
      ...((process.env[keyVariable] ?? "") === ""
        ? [`It takes the key from $${keyVariable}, which has to be set: export ${keyVariable}=…`]
        : []),
      `Next: conformance plan --target ${out}, then conformance run --target ${out}`,
      "",
    ].join("\n"),
  );
  return exitCodes.fine;
}

const wanted = (out: string) => ({
  text: `Write ${out}? (y/n)`,
  fallback: "y",
  read: (answer: string): boolean => {
    if (/^y(es)?$/i.test(answer)) return true;
    if (/^no?$/i.test(answer)) return false;
    throw new UsageError(`${JSON.stringify(answer)} is neither y nor n.`);
  },
});
