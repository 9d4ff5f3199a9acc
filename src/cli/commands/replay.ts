import { Command } from "commander";

import { readSavedRun } from "../../app/report-folder/saved-run.ts";
import {
  type ConfirmationReason,
  type PreparedReplay,
  prepareReplay,
  resendAndCompare,
  type ReplayResult,
} from "../../app/replay/replay.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { shellQuote } from "../../base/shell-words.ts";
import { formatCount, joinFirst } from "../../base/text.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { readTargetFile } from "../../target/target-file.ts";
import { withSteps } from "../command.ts";
import { askConsent, canAsk } from "../ask-user.ts";
import { exitCodes } from "../../base/exit-codes.ts";
import { registerKey, registerSecrets } from "../errors.ts";
import { type Interruption, untilInterrupted } from "../interruption.ts";
import { replayText } from "../replay/replay-text.ts";
import { type FlagsOf, withOptions } from "../options.ts";
import { networkFlagsOf, networkFromFlags, networkOptions } from "../target-flags.ts";
import { terminalOf } from "../terminal.ts";
import { runFolder } from "./compare.ts";
import { printLine } from "../print-line.ts";

const replayOptions = {
  "--instance <name>": "which finding, if the check has several, such as its tier",
  "--base-url <url>": "send to this deployment (default: that of the report)",
  "--target <file>": "target file that holds the keys",
  "--api-key <key>": "the key, of a report made with one (better: CONFORMANCE_API_KEY)",
  ...networkOptions,
  "--yes": "the target's owner agrees to what is sent",
  "-q, --quiet": "only what differs, and the summary",
} as const;

const helpText = `
Keys are redacted in a report. They come from the keys of the same names in a --target file; for a report made with one key from --api-key or
CONFORMANCE_API_KEY; or each from the variable that the report's curl commands name, such as PRO_KEY for the key pro.

The requests go where the report's went, unless --base-url says otherwise. A target that is not this machine gets GET at once, and anything
else when somebody says yes. Differences are marked: ! for status, error code or shape, ~ for any other value. What differs every time, such
as Date and the figures of rate limits, is only named. Nothing is judged: the last line says how to do that.

Exit codes: 0 every response is as it was saved, in status, error code and shape; 1 one is not, or not all could be sent; 2 usage, or the
saved report is not enough to send it again; 3 the target was not reached; 130 interrupted.

Examples:
  CONFORMANCE_API_KEY=… conformance replay reports/2026-01-31T02-00-00-000Z-acme INV-10
  conformance replay reports/acme LIM-2 --instance free --target acme.json
  conformance replay reports/embedded SSE-5 --base-url http://127.0.0.1:8080 --quiet`;

/** `conformance replay REPORT CHECK`: sends the requests of one check again. */
export function replayCommand(): Command {
  const command = new Command("replay")
    .argument("<report>", "folder of a saved report, with report.json and evidence.json")
    .argument("<check>", "check of it, or clause, as the report names it");
  withOptions(command, replayOptions).addHelpText("after", helpText);
  return withSteps(command, { prepare, act, present });
}

type Prepared = ReturnType<typeof prepare>;

function prepare(path: string, check: string, flags: FlagsOf<typeof replayOptions>) {
  const { instance = null, baseUrl = null, apiKey = null } = flags;
  if (apiKey !== null) registerKey(apiKey);
  const kept = readSavedRun(runFolder(path));
  if (flags.target !== undefined && apiKey !== null)
    throw new UsageError(line`--api-key and --target exclude each other: the target file says it.`);
  const target =
    flags.target === undefined
      ? null
      : registerSecrets(readTargetFile(flags.target, process.env, networkFlagsOf(flags)));
  const network = target?.network ?? networkFromFlags(flags, process.env);
  const options = { kept, check, instance, baseUrl, apiKey, target, network, environment: process.env };
  return { prepared: prepareReplay(options), flags };
}

interface ReplayOutcome {
  readonly replayed: ReplayResult | null;
  readonly isInterrupted: boolean;
}

const act = ({ prepared, flags }: Prepared): Promise<ReplayOutcome> =>
  untilInterrupted(async (interruption) => {
    const { signal } = interruption;
    if (!(await isConfirmed(prepared, flags.yes === true, interruption)))
      return { replayed: null, isInterrupted: signal.aborted };
    printLine(line`Sending ${formatCount(prepared.requests.length, "request")} to ${prepared.baseUrl} again`);
    return { replayed: await resendAndCompare(prepared, signal), isInterrupted: signal.aborted };
  });

async function isConfirmed(
  { confirmation, baseUrl }: PreparedReplay,
  isYes: boolean,
  interruption: Interruption,
): Promise<boolean> {
  if (confirmation === null || isYes) return true;
  const why = describeConfirmation(confirmation);
  if (!canAsk())
    throw new UsageError(
      line`${baseUrl} is not this machine, and ${why}: give --yes if its owner agrees to that. Nothing was sent.`,
    );
  printLine(line`${baseUrl} is not this machine, and ${why}.`);
  return askConsent(interruption);
}

function describeConfirmation(reason: ConfirmationReason): string {
  if (reason.kind === "changes") {
    const requests = reason.requests.map((request) => sanitizeLine(request, 120));
    return `this sends ${joinFirst(requests, 3)}`;
  }
  return `the report alone says that ${joinFirst(reason.variables, 4)} goes there (or say so with --base-url)`;
}

function present({ replayed, isInterrupted }: ReplayOutcome, { prepared, flags }: Prepared): number {
  if (replayed === null) {
    printLine(line`Nothing was sent.`);
    return isInterrupted ? exitCodes.interrupted : exitCodes.usage;
  }
  const { style, write } = terminalOf(process.stdout);
  const view = { ...replayed, chosen: prepared.chosen, command: judgeCommand(prepared, flags.target) };
  write(replayText(view, style, flags.quiet === true));
  return isInterrupted ? exitCodes.interrupted : exitCodeOf[replayed.outcome];
}

const exitCodeOf: Readonly<Record<ReplayResult["outcome"], number>> = {
  alike: exitCodes.fine,
  other: exitCodes.broken,
  "not reached": exitCodes.nothingExercised,
};

function judgeCommand({ chosen, baseUrl, target }: PreparedReplay, targetFile: string | undefined): string {
  const only = [...new Set(chosen.findings.map(({ check }) => check))].map((check) => ` --only ${shellQuote(check)}`);
  const isOfFile = targetFile !== undefined && target?.baseUrl === baseUrl;
  const where = isOfFile ? `--target ${shellQuote(targetFile)}` : `--base-url ${shellQuote(baseUrl)}`;
  return `conformance run ${where}${only.join("")}`;
}
