import { statSync } from "node:fs";
import { basename, dirname } from "node:path";

import { Command } from "commander";

import { readSavedRun } from "../../app/report-folder/saved-run.ts";
import { type PreparedReplay, prepareReplay, replay, type Replayed } from "../../app/replay/replay.ts";
import { shellQuote } from "../../base/shell-words.ts";
import { formatCount } from "../../base/text.ts";
import { readTargetFile } from "../../target/file.ts";
import { UsageError } from "../../base/usage-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { type NetworkFlagValues, networkFlagsOf, networkFromFlags, withNetworkOptions } from "../network-flags.ts";
import { registerKey, registerSecrets } from "../harness-errors.ts";
import { onInterruption } from "../interruption.ts";
import { isAgreed } from "../replay/consent.ts";
import { replayText } from "../replay/show.ts";
import { terminalOf } from "../terminal.ts";

interface ReplayFlags extends NetworkFlagValues {
  readonly instance?: string;
  readonly baseUrl?: string;
  readonly target?: string;
  readonly apiKey?: string;
  readonly yes?: boolean;
  readonly quiet?: boolean;
}

const helpText = `
Keys are redacted in a report. They come from the keys of the same names in a --target file; for a report made with one key from --api-key or
CONFORMANCE_API_KEY; or each from the variable that the report's curl commands name, such as PRO_KEY for the key pro.

The requests go where the report's went, unless --base-url says otherwise. A target that is not this machine gets GET at once, and anything
else when somebody says yes. Differences are marked: ! for status, error code or shape, ~ for any other value. What differs every time, such
as Date and the figures of rate limits, is only named. Nothing is judged: the last line says how to do that.

Exit codes: 0 every answer is as it was kept, in status, error code and shape; 1 one is not, or not all could be sent; 2 usage, or what was
kept is not enough to send it again; 3 the target was not reached; 130 interrupted.

Examples:
  CONFORMANCE_API_KEY=… conformance replay reports/2026-01-31T02-00-00-000Z-acme INV-10
  conformance replay reports/acme LIM-2 --instance free --target acme.json
  conformance replay reports/embedded SSE-5 --base-url http://127.0.0.1:8080 --quiet`;

/** `conformance replay REPORT CHECK`: sends one check's requests again. */
export function replayCommand(): Command {
  const command = new Command("replay")
    .argument("<report>", "folder of a kept report, with report.json and evidence.json")
    .argument("<check>", "check of it, or clause, as the report names it")
    .option("--instance <name>", "which finding, where the check has several, such as its tier")
    .option("--base-url <url>", "send to this deployment (default: that of the report)")
    .option("--target <file>", "target file that holds the keys")
    .option("--api-key <key>", "the key, of a report made with one (better: CONFORMANCE_API_KEY)");
  return withNetworkOptions(command)
    .option("--yes", "the target's owner agrees to what is sent")
    .option("-q, --quiet", "only what differs, and the summary")
    .addHelpText("after", helpText)
    .action(async (report: string, check: string, flags: ReplayFlags) => {
      process.exitCode = await sendAgain(prepare(report, check, flags), flags);
    });
}

function prepare(path: string, check: string, { instance, baseUrl, apiKey, ...flags }: ReplayFlags): PreparedReplay {
  if (apiKey !== undefined) registerKey(apiKey);
  const kept = readSavedRun(folderOf(path));
  if (flags.target !== undefined && apiKey !== undefined)
    throw new UsageError("--api-key and --target exclude each other: the target file says it.");
  const target =
    flags.target === undefined
      ? null
      : registerSecrets(readTargetFile(flags.target, process.env, networkFlagsOf(flags)));
  const network = target?.network ?? networkFromFlags(flags, process.env);
  const wish = { instance: instance ?? null, baseUrl: baseUrl ?? null, apiKey: apiKey ?? null };
  return prepareReplay({ kept, check, target, network, environment: process.env, ...wish });
}

/** `report.json` stands for the folder that it is in. */
const folderOf = (path: string): string =>
  basename(path) === "report.json" && statSync(path, { throwIfNoEntry: false })?.isFile() === true
    ? dirname(path)
    : path;

async function sendAgain(prepared: PreparedReplay, flags: ReplayFlags): Promise<number> {
  const interruption = onInterruption();
  try {
    if (!(await isAgreed(prepared, flags.yes === true, interruption))) {
      process.stderr.write("Nothing was sent.\n");
      return interruption.signal.aborted ? exitCodes.interrupted : exitCodes.usage;
    }
    const { requests, baseUrl } = prepared;
    process.stderr.write(`Sending ${formatCount(requests.length, "request")} to ${baseUrl} again\n`);
    const replayed = await replay(prepared, interruption.signal);
    const { look, write } = terminalOf(process.stdout);
    const shown = { ...replayed, chosen: prepared.chosen, command: commandOf(prepared, flags.target) };
    write(replayText(shown, look, flags.quiet === true));
    return interruption.signal.aborted ? exitCodes.interrupted : exitCodeOf[replayed.outcome];
  } finally {
    interruption.release();
  }
}

const exitCodeOf: Readonly<Record<Replayed["outcome"], number>> = {
  alike: exitCodes.fine,
  other: exitCodes.broken,
  "not reached": exitCodes.nothingExercised,
};

/** What judges the check again, at the address that was asked. */
function commandOf({ chosen, baseUrl, target }: PreparedReplay, targetFile: string | undefined): string {
  const only = [...new Set(chosen.findings.map(({ check }) => check))].map((check) => ` --only ${shellQuote(check)}`);
  const isOfFile = targetFile !== undefined && target?.baseUrl === baseUrl;
  const where = isOfFile ? `--target ${shellQuote(targetFile)}` : `--base-url ${shellQuote(baseUrl)}`;
  return `conformance run ${where}${only.join("")}`;
}
