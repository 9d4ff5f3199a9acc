import { validateHeaderName, validateHeaderValue } from "node:http";

import { Command } from "commander";

import { type JudgedTarget, judgeReceiver, writeDeliveries } from "../../app/judge/judge-target.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { line, UsageError } from "../../base/line.ts";
import { readTextFile } from "../../base/read-file.ts";
import { formatCount } from "../../base/text.ts";
import type { Header } from "../../evidence/exchange.ts";
import type { DeliverySettings } from "../../run/run-party.ts";
import { executionEvents, webhookEvents, type WebhookEvent } from "../../spec/events-and-errors.ts";
import { headerNames } from "../../spec/headers.ts";
import { signatureVectors } from "../../suites/receiver/event.ts";
import { receiverTarget } from "../../target/target-from-options.ts";
import type { Target } from "../../target/target.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { registerSecrets } from "../errors.ts";
import { cliMessages } from "../messages.ts";
import { type FlagsOf, repeatable, withOptions } from "../options.ts";
import { displayPath, prepareFile, prepareFolder } from "../output-files.ts";
import { judgeWithProgress } from "../progress.ts";
import { formatOptions, prepareReport, type ReportFlags, reportOptions } from "../report/report-flags.ts";
import { presentJudged } from "../report/present-report.ts";
import { type NetworkFlagValues, networkFromFlags, networkOptions } from "../target-flags.ts";

const secretVariable = "CONFORMANCE_WEBHOOK_SECRET";

const receiverOptions = {
  "--secret-file <file>": {
    ...repeatable(""),
    help: `file with the webhook's secret (or ${secretVariable}); repeatable, one for each webhook`,
  },
  "--header <header>": repeatable("header of every delivery, such as 'X-Tenant: acme'"),
  "--events <types>": "event types that the webhook subscribed to, separated by commas (default: all)",
  "--agent <id>": { help: "agent that the events are about", default: "conformance-agent" },
  "--dry-run <dir>": "write the deliveries into this folder, and send nothing; needs no URL",
  "--vectors <file>": "write signatures of fixed deliveries and requests, to test without sending",
} as const;

type ReceiverFlags = FlagsOf<typeof receiverOptions> & NetworkFlagValues & ReportFlags;

const examples = `
Examples:
  ${secretVariable}=… conformance receiver https://hooks.example.com/agents
  conformance receiver http://127.0.0.1:3000/hook --secret-file secret.txt --events 'agent.*' --html receiver.html
  conformance receiver --secret-file secret.txt --dry-run deliveries
  conformance receiver --vectors vectors.json

Exit codes: as \`conformance run\`.`;

/** `conformance receiver URL`: sends deliveries to a webhook receiver, and judges the responses. */
export function receiverCommand(): Command {
  const command = new Command("receiver").argument("[url]", "address of the receiver, as a webhook would name it");
  withOptions(command, receiverOptions, networkOptions, formatOptions(), reportOptions);
  return withSteps(command.addHelpText("after", examples), { prepare, act, present });
}

type ReceiverWork =
  | { readonly kind: "vectors"; readonly file: string }
  | { readonly kind: "dry run"; readonly folder: string; readonly settings: DeliverySettings }
  | JudgingWork;

interface JudgingWork extends ReturnType<typeof prepareReport> {
  readonly kind: "judge";
  readonly settings: DeliverySettings;
  readonly target: Target;
  readonly flags: ReceiverFlags;
}

function prepare(url: string | undefined, flags: ReceiverFlags): ReceiverWork {
  if (flags.vectors !== undefined && flags.dryRun !== undefined)
    throw new UsageError(line`Give --dry-run or --vectors, not both.`);
  if (flags.vectors !== undefined) return { kind: "vectors", file: prepareFile(flags.vectors, "--vectors") };
  const settings = readDeliverySettings(flags);
  if (flags.dryRun !== undefined)
    return { kind: "dry run", folder: prepareFolder(flags.dryRun, "--dry-run"), settings };
  if (url === undefined) throw new UsageError(line`Give the URL of the receiver, or --dry-run, or --vectors.`);
  const { secrets, headers } = settings;
  const headerValues = headers.map(([, value]) => value);
  const network = networkFromFlags(flags);
  const target = registerSecrets(receiverTarget({ url, secrets, headerValues, network }));
  return { kind: "judge", settings, target, flags, ...prepareReport(flags, target.name, "receiver-") };
}

/** Returns the judged receiver. If the command only writes files, returns a text for the terminal. */
async function act(work: ReceiverWork): Promise<JudgedTarget | string> {
  switch (work.kind) {
    case "vectors": {
      const vectors = signatureVectors();
      replaceFile(work.file, `${JSON.stringify(vectors, null, 2)}\n`);
      const count = vectors.deliveries.length + vectors.requests.length;
      return `${displayPath(work.file)} has ${formatCount(count, "signature")}.\n`;
    }
    case "dry run": {
      const count = await writeDeliveries(work.folder, work.settings);
      const contents = `${count} deliveries, and deliveries.json with their headers. Nothing was sent.`;
      return `${displayPath(work.folder)} has ${contents}\n`;
    }
    case "judge":
      return judgeUntilInterrupted(work);
  }
}

async function judgeUntilInterrupted({ target, settings, flags }: JudgingWork): Promise<JudgedTarget> {
  const { judged } = await judgeWithProgress(flags.quiet === true, ({ signal }, { events }) =>
    judgeReceiver({
      ...settings,
      target,
      signal,
      messages: cliMessages,
      progress: {
        ...events,
        // Hides the query of the base URL, because the query may contain a secret.
        onStart: (each) => events.onStart?.({ ...each, baseUrl: each.baseUrl.replace(/[?].*/s, "?…") }),
      },
    }),
  );
  return judged;
}

async function present(outcome: JudgedTarget | string, work: ReceiverWork): Promise<number> {
  if (typeof outcome !== "string" && work.kind === "judge") return presentJudged(outcome, work);
  if (typeof outcome === "string") process.stdout.write(outcome);
  return exitCodes.fine;
}

const readDeliverySettings = (flags: ReceiverFlags): DeliverySettings => ({
  secrets: readSecrets(flags),
  events: readEvents(flags),
  agent: flags.agent,
  headers: flags.header.map(readHeader),
});

function readSecrets({ secretFile }: ReceiverFlags): DeliverySettings["secrets"] {
  const [first, ...others] = secretFile.map(secretIn);
  const secret = first ?? process.env[secretVariable];
  if (secret === undefined || secret === "")
    throw new UsageError(line`There is no webhook secret. Set ${secretVariable}, or give --secret-file.`);
  return [secret, ...others];
}

function secretIn(path: string): string {
  const secret = readTextFile(path, "--secret-file").replace(/\r?\n$/, "");
  if (secret !== "") return secret;
  throw new UsageError(line`--secret-file is empty: ${path}. It holds the secret of one webhook.`);
}

function readEvents({ events }: ReceiverFlags): DeliverySettings["events"] {
  const chosen = (events ?? webhookEvents.join(",")).split(",").flatMap((name) => eventsNamed(name.trim()));
  const [first, ...others] = new Set(chosen);
  if (first === undefined) throw new UsageError(line`--events is empty. Give event types, separated by commas.`);
  return [first, ...others];
}

function eventsNamed(name: string): readonly WebhookEvent[] {
  if (name === "agent.*") return executionEvents;
  const event = webhookEvents.find((each) => each === name);
  if (event !== undefined) return [event];
  throw new UsageError(
    line`--events has ${JSON.stringify(name)}, which is no event type. Known: agent.*, ${webhookEvents.join(", ")}.`,
  );
}

/** Lower-case names of headers that only the harness sets. `--header` is not allowed to set these headers. */
const ownHeaders: readonly string[] = [
  "connection",
  "content-length",
  "content-type",
  "host",
  "transfer-encoding",
  headerNames.deliverySignature.toLowerCase(),
];

function readHeader(text: string): Header {
  const at = text.indexOf(":");
  const [name, value] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  if (ownHeaders.includes(name.toLowerCase()))
    throw new UsageError(line`--header must not name ${name}: the harness sets this header for each delivery.`);
  if (at > 0 && isSendable(name, value)) return [name, value];
  // The message does not repeat the header, because its value may be a secret.
  throw new UsageError(line`--header is not a header. Give it like --header 'X-Tenant: acme'.`);
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
