import { join } from "node:path";

import { Command } from "commander";

import { writeDeliveries, judgeReceiver } from "../../app/judge-receiver.ts";
import type { JudgedTarget } from "../../app/judge/judge-target.ts";
import { slug, timeInName } from "../../base/files/file-names.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { line } from "../../base/line.ts";
import { formatCount } from "../../base/text.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { DeliverySettings } from "../../run/run-deliveries.ts";
import { signatureVectors } from "../../suites/receiver/vectors.ts";
import { receiverTarget } from "../../target/target-from-options.ts";
import type { Target } from "../../target/target.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { registerSecrets } from "../harness-errors.ts";
import { untilInterrupted } from "../interruption.ts";
import { cliMessages } from "../messages.ts";
import { appendValue } from "../option-parsers.ts";
import { displayPath, prepareFile, prepareFolder, prepareLockedFolder } from "../output-files.ts";
import { showRunProgress } from "../progress.ts";
import { type DeliveryFlags, readDeliverySettings, secretVariable } from "../receiver-flags.ts";
import {
  type FailureFlags,
  type FormatFlags,
  prepareFormats,
  readRules,
  withFailureOptions,
  withFormatOptions,
} from "../report/format-flags.ts";
import { presentJudged } from "../report/present-report.ts";
import { type NetworkFlagValues, networkFromFlags, withNetworkOptions } from "../target-flags.ts";

interface ReceiverFlags extends DeliveryFlags, NetworkFlagValues, FailureFlags, FormatFlags {
  readonly complete?: boolean;
  readonly out?: string;
  readonly quiet?: boolean;
  readonly dryRun?: string;
  readonly vectors?: string;
}

const examples = `
Examples:
  ${secretVariable}=… conformance receiver https://hooks.example.com/agents
  conformance receiver http://127.0.0.1:3000/hook --secret-file secret.txt --events 'agent.*' --html receiver.html
  conformance receiver --secret-file secret.txt --dry-run deliveries
  conformance receiver --vectors vectors.json

Exit codes: as \`conformance run\`.`;

/** `conformance receiver URL`: judges a webhook receiver by the deliveries that the service would send. */
export function receiverCommand(): Command {
  const command = new Command("receiver")
    .argument("[url]", "address of the receiver, as a webhook would name it")
    .option(
      "--secret-file <file>",
      `file with the webhook's secret (or ${secretVariable}); repeatable, one for each webhook`,
      appendValue,
      [],
    )
    .option("--header <header>", "header of every delivery, such as 'X-Tenant: acme' (repeatable)", appendValue, [])
    .option("--events <types>", "event types that the webhook subscribed to, separated by commas (default: all)")
    .option("--agent <id>", "agent that the events are about", "conformance-agent")
    .option("--dry-run <dir>", "write the deliveries into this folder, and send nothing; needs no URL")
    .option("--vectors <file>", "write signatures of fixed deliveries and requests, to test without sending");
  withFormatOptions(withFailureOptions(withNetworkOptions(command)))
    .option("--complete", "a must clause that was not exercised fails the run as well")
    .option("--out <dir>", "folder for report.json and evidence.json (default: a new one under reports/)")
    .option("--json <file>", "report.json to this file as well; - prints it, and nothing else, on standard output")
    .option("-q, --quiet", "only what is broken, and the verdict");
  return withSteps(command.addHelpText("after", examples), { prepare, act, present });
}

/** The work that the flags select: judge a receiver, write its deliveries into a folder, or write test vectors. */
type ReceiverWork =
  | { readonly kind: "vectors"; readonly file: string }
  | { readonly kind: "dry run"; readonly folder: string; readonly settings: DeliverySettings }
  | JudgingWork;

interface JudgingWork {
  readonly kind: "judge";
  readonly settings: DeliverySettings;
  readonly target: Target;
  readonly flags: ReceiverFlags;
  readonly rules: ReturnType<typeof readRules>;
  readonly formats: ReturnType<typeof prepareFormats>;
  readonly folder: string;
}

function prepare(url: string | undefined, flags: ReceiverFlags): ReceiverWork {
  if (flags.vectors !== undefined && flags.dryRun !== undefined)
    throw new UsageError(line`Give --dry-run or --vectors, not both.`);
  if (flags.vectors !== undefined) return { kind: "vectors", file: prepareFile(flags.vectors, "--vectors") };
  const settings = readDeliverySettings(flags, process.env);
  if (flags.dryRun !== undefined)
    return { kind: "dry run", folder: prepareFolder(flags.dryRun, "--dry-run"), settings };
  if (url === undefined) throw new UsageError(line`Give the URL of the receiver, or --dry-run, or --vectors.`);
  const { secrets, headers } = settings;
  const headerValues = headers.map(([, value]) => value);
  const network = networkFromFlags(flags, process.env);
  const target = registerSecrets(receiverTarget({ url, secrets, headerValues, network }));
  const name = `${timeInName(new Date())}-receiver-${slug(target.name).slice(0, 40)}`;
  return {
    kind: "judge",
    settings,
    target,
    flags,
    rules: readRules(flags),
    formats: prepareFormats(flags),
    folder: prepareLockedFolder(flags.out ?? join("reports", name)),
  };
}

/** The result of the command: a judged receiver, or a line of text that names the written files. */
type ReceiverOutcome =
  | { readonly kind: "written"; readonly text: string }
  | { readonly kind: "judged"; judged: JudgedTarget };

async function act(work: ReceiverWork): Promise<ReceiverOutcome> {
  switch (work.kind) {
    case "vectors": {
      const vectors = signatureVectors();
      replaceFile(work.file, `${JSON.stringify(vectors, null, 2)}\n`);
      const count = vectors.deliveries.length + vectors.requests.length;
      return { kind: "written", text: `${displayPath(work.file)} has ${formatCount(count, "signature")}.\n` };
    }
    case "dry run": {
      const count = await writeDeliveries(work.folder, work.settings);
      const says = `${count} deliveries, and deliveries.json with their headers. Nothing was sent.`;
      return { kind: "written", text: `${displayPath(work.folder)} has ${says}\n` };
    }
    case "judge":
      return { kind: "judged", judged: await judgeUntilInterrupted(work) };
  }
}

async function judgeUntilInterrupted({ target, settings, flags }: JudgingWork): Promise<JudgedTarget> {
  const { events: progress, done } = showRunProgress(flags.quiet === true);
  try {
    return await untilInterrupted(async ({ signal, isInterrupted }) => {
      const judged = await judgeReceiver({
        ...settings,
        target,
        signal,
        messages: cliMessages,
        progress: {
          ...progress,
          // The query of the address is not shown, because it may hold a secret.
          onStart: (each) => progress.onStart?.({ ...each, baseUrl: each.baseUrl.replace(/[?].*/s, "?…") }),
        },
      });
      return { ...judged, interrupted: isInterrupted() };
    });
  } finally {
    done();
  }
}

async function present(outcome: ReceiverOutcome, work: ReceiverWork): Promise<number> {
  if (outcome.kind === "written" || work.kind !== "judge") {
    if (outcome.kind === "written") process.stdout.write(outcome.text);
    return exitCodes.fine;
  }
  return presentJudged(outcome.judged, work);
}
