import { join } from "node:path";

import { Command } from "commander";

import { judgeClient, clientName } from "../../app/client/judge-client.ts";
import { assertCommand, type CommandLine } from "../../app/client/run-command.ts";
import type { JudgedTarget } from "../../app/judge/judge-target.ts";
import { slug, timeInName } from "../../base/files/file-names.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { troubleNames } from "../../gateway/trouble.ts";
import { type ClientCommandFlags, readClientTls, readTroubles, readVariables } from "../client-flags.ts";
import { withSteps } from "../command.ts";
import { untilInterrupted } from "../interruption.ts";
import { cliMessages } from "../messages.ts";
import { readCount, readDuration } from "../option-parsers.ts";
import { prepareLockedFolder } from "../output-files.ts";
import { printText } from "../print-line.ts";
import { showRunProgress } from "../progress.ts";
import {
  type FailureFlags,
  type FormatFlags,
  prepareFormats,
  readRules,
  withFailureOptions,
  withFormatOptions,
} from "../report/format-flags.ts";
import { presentJudged } from "../report/present-report.ts";

interface ClientFlags extends ClientCommandFlags, FailureFlags, FormatFlags {
  readonly complete?: boolean;
  readonly out?: string;
  readonly quiet?: boolean;
}

const help = `
The command gets an address and a key in its environment, and runs first without trouble: it has to end with 0. Then it runs again
under trouble, until each kind has met a request that it fits. What it prints is not shown, unless it fails or with --show-output.

Troubles:
${Object.entries(troubleNames)
  .map(([name, says]) => `  ${name.padEnd(16)} ${says}`)
  .join("\n")}

Examples:
  conformance client -- pytest tests/test_agents.py
  conformance client --strict-requests --html client.html -- node client.ts
  conformance client --trouble 429,reset --seed 7 -- npm test
  conformance client --base-url-variable ACME_URL --api-key-variable ACME_KEY -- ./acme-cli list

Exit codes: as \`conformance run\`; 3 also if the command fails without trouble, and then nothing is judged.`;

/** `conformance client -- COMMAND…`: judges a client by what it sends to the reference server. */
export function clientCommand(): Command {
  const command = new Command("client")
    .argument("<command...>", "program and arguments, after --: a client, or its tests")
    .option("--base-url-variable <name>", "environment variable that gets the address, with /v1", "AGENT_BASE_URL")
    .option("--api-key-variable <name>", "environment variable that gets the key", "AGENT_API_KEY")
    .option("--agent-variable <name>", "environment variable that gets the id of an agent", "AGENT_ID")
    .option(
      "--signing-secret-variable <name>",
      "environment variable that gets the secret for signing",
      "AGENT_SIGNING_SECRET",
    )
    .option("--trouble <names>", "only these troubles, separated by commas (default: all)")
    .option("--no-trouble", "run the command once, without trouble")
    .option("--seed <number>", "seed of the schedule of trouble", "1")
    .option(
      "--strict-requests",
      "a single wrong request breaks its clause; else it is a note, as tests send some on purpose",
    )
    .option("--timeout <duration>", "longest time of one run of the command", "2m")
    .option("--tls-cert <file>", "serve HTTPS with this certificate (PEM); needs --tls-key")
    .option("--tls-key <file>", "the certificate's key (PEM)")
    .option("--show-output", "show what the command prints, on standard error");
  withFormatOptions(withFailureOptions(command))
    .option("--complete", "a must clause that was not exercised fails the run as well")
    .option("--out <dir>", "folder for report.json and evidence.json (default: a new one under reports/)")
    .option("--json <file>", "report.json to this file as well; - prints it, and nothing else, on standard output")
    .option("-q, --quiet", "only what is broken, and the verdict");
  return withSteps(command.addHelpText("after", help), { prepare, act, present: presentJudged });
}

type Prepared = ReturnType<typeof prepare>;

function prepare(words: readonly string[], flags: ClientFlags) {
  const [program, ...args] = words;
  if (program === undefined || program === "")
    throw new UsageError(line`Give a command after --, such as -- npm test.`);
  const command: CommandLine = [program, ...args];
  assertCommand(command);
  const name = `${timeInName(new Date())}-client-${slug(clientName(command)).slice(0, 40)}`;
  return {
    command,
    flags,
    variables: readVariables(flags),
    troubles: readTroubles(flags),
    seed: readCount(flags.seed, "--seed", 0),
    timeoutMs: readDuration(flags.timeout, "--timeout"),
    tls: readClientTls(flags),
    rules: readRules(flags),
    formats: prepareFormats(flags),
    folder: prepareLockedFolder(flags.out ?? join("reports", name)),
  };
}

async function act({ flags, ...prepared }: Prepared): Promise<JudgedTarget> {
  const { events: progress, done } = showRunProgress(flags.quiet === true);
  try {
    return await untilInterrupted(async ({ signal, isInterrupted }) => {
      const judged = await judgeClient({
        ...prepared,
        isStrict: flags.strictRequests === true,
        showsOutput: flags.showOutput === true,
        signal,
        messages: cliMessages,
        progress,
        onFailure: (output) => {
          done();
          if (output.trim() !== "") printText(`The command printed:\n${output.trimEnd()}`);
        },
      });
      return { ...judged, interrupted: isInterrupted() };
    });
  } finally {
    done();
  }
}
