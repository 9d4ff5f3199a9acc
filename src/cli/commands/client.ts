import { X509Certificate } from "node:crypto";

import { Command } from "commander";

import {
  type ClientVariables,
  judgeClient,
  type JudgeClientOptions,
  clientName,
} from "../../app/client/judge-client.ts";
import { assertCommand, type CommandLine } from "../../app/client/client-session.ts";
import type { JudgedTarget } from "../../app/judge/judge-target.ts";
import { line, UsageError } from "../../base/line.ts";
import { type TroubleName, troubleDescriptions } from "../../gateway/trouble.ts";
import { withSteps } from "../command.ts";
import { cliMessages } from "../messages.ts";
import { printText } from "../print-line.ts";
import { judgeWithProgress } from "../progress.ts";
import { type FlagsOf, readCount, readDuration, withOptions } from "../options.ts";
import { formatOptions, prepareReport, type ReportFlags, reportOptions } from "../report/report-flags.ts";
import { presentJudged } from "../report/present-report.ts";
import { readTls, tlsOptions } from "../tls-flags.ts";

const clientOptions = {
  "--base-url-variable <name>": {
    help: "environment variable that gets the address, with /v1",
    default: "AGENT_BASE_URL",
  },
  "--api-key-variable <name>": { help: "environment variable that gets the key", default: "AGENT_API_KEY" },
  "--agent-variable <name>": { help: "environment variable that gets the id of an agent", default: "AGENT_ID" },
  "--signing-secret-variable <name>": {
    help: "environment variable that gets the secret for signing",
    default: "AGENT_SIGNING_SECRET",
  },
  "--trouble <names>": "only these troubles, separated by commas (default: all)",
  "--seed <number>": { help: "seed of the schedule of trouble", default: "1" },
  "--strict-requests": "a single wrong request breaks its clause; else it is a note, as tests send some on purpose",
  "--timeout <duration>": { help: "longest time of one run of the command", default: "2m" },
  ...tlsOptions,
  "--show-output": "show what the command prints, on standard error",
} as const;

type ClientFlags = Omit<FlagsOf<typeof clientOptions>, "trouble"> & { readonly trouble?: string | false } & ReportFlags;

const help = `
The command gets an address and a key in its environment, and runs first without trouble: it has to end with 0. Then it runs again
under trouble, until each kind has met a request that it fits. What it prints is not shown, unless it fails or with --show-output.

Troubles:
${Object.entries(troubleDescriptions)
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
  const command = new Command("client").argument(
    "<command...>",
    "program and arguments, after --: a client, or its tests",
  );
  const noTrouble = { "--no-trouble": "run the command once, without trouble" };
  withOptions(command, clientOptions, noTrouble, formatOptions(), reportOptions);
  return withSteps(command.addHelpText("after", help), { prepare, act, present: presentJudged });
}

type Prepared = ReturnType<typeof prepare>;

function prepare(words: readonly string[], flags: ClientFlags) {
  const [program, ...args] = words;
  if (program === undefined || program === "")
    throw new UsageError(line`Give a command after --, such as -- npm test.`);
  const command: CommandLine = [program, ...args];
  assertCommand(command);
  return {
    command,
    flags,
    variables: readVariables(flags),
    troubles: readTroubles(flags),
    seed: readCount(flags.seed, "--seed", 0),
    timeoutMs: readDuration(flags.timeout, "--timeout"),
    tls: readClientTls(flags),
    ...prepareReport(flags, clientName(command), "client-"),
  };
}

const act = async ({ flags, ...prepared }: Prepared): Promise<JudgedTarget> => {
  const { judged } = await judgeWithProgress(flags.quiet === true, ({ signal }, { events, done }) =>
    judgeClient({
      ...prepared,
      isStrict: flags.strictRequests === true,
      showsOutput: flags.showOutput === true,
      signal,
      messages: cliMessages,
      progress: events,
      onFailure: (output) => {
        done();
        if (output.trim() !== "") printText(`The command printed:\n${output.trimEnd()}`);
      },
    }),
  );
  return judged;
};

const allTroubles = Object.keys(troubleDescriptions) as readonly TroubleName[];

function readTroubles({ trouble }: ClientFlags): readonly TroubleName[] {
  if (trouble === false) return [];
  if (trouble === undefined) return allTroubles;
  const names = trouble.split(",").map((each) => each.trim());
  return [...new Set(names.map(troubleNamed))];
}

function troubleNamed(name: string): TroubleName {
  const found = allTroubles.find((each) => each === name);
  if (found !== undefined) return found;
  throw new UsageError(
    line`--trouble has ${JSON.stringify(name)}, which is no trouble. Known: ${allTroubles.join(", ")}.`,
  );
}

function readVariables(flags: ClientFlags): ClientVariables {
  const variables = {
    baseUrl: flags.baseUrlVariable,
    apiKey: flags.apiKeyVariable,
    agent: flags.agentVariable,
    signingSecret: flags.signingSecretVariable,
  };
  const names = Object.values(variables);
  const wrong = names.find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (wrong !== undefined) throw new UsageError(line`${JSON.stringify(wrong)} is no name of an environment variable.`);
  const double = names.find((name, at) => names.indexOf(name) !== at);
  if (double !== undefined) throw new UsageError(line`Two flags name the environment variable ${double}.`);
  return variables;
}

function readClientTls({ tlsCert, tlsKey }: ClientFlags): JudgeClientOptions["tls"] {
  const files = readTls(tlsCert, tlsKey);
  if (files === null) return null;
  const certificate = new X509Certificate(files.cert);
  const host =
    certificate.checkIP("127.0.0.1") === undefined && certificate.checkHost("localhost") ? "localhost" : "127.0.0.1";
  return { ...files, host };
}
