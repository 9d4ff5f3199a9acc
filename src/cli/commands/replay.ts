import { Command } from "commander";
import { readSavedRun, runFolder } from "../../app/report-folder/saved-report.ts";
import {
  type ConfirmationReason,
  type PreparedReplay,
  prepareReplay,
  type ReplayPair,
  type ReplayResult,
  type ReplaySelection,
  resendAndCompare,
} from "../../app/replay/replay.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { shellQuote } from "../../base/shell-words.ts";
import { createPaint, displayWidth, formatCount, joinFirst, padToWidth, type Paint } from "../../base/text.ts";
import { line, UsageError } from "../../base/line.ts";
import { readTargetFile } from "../../target/target-file.ts";
import { withSteps } from "../command.ts";
import { askConsent, canAsk } from "../ask-user.ts";
import { exitCodes } from "../../base/process-end.ts";
import { registerKey, registerSecrets } from "../errors.ts";
import { type Interruption, untilInterrupted } from "../interruption.ts";
import { type FlagsOf, withOptions } from "../options.ts";
import { networkFlagsOf, networkFromFlags, networkOptions } from "../target-flags.ts";
import { terminalOf } from "../terminal.ts";
import type { TerminalStyle } from "../../report/terminal/section-lines.ts";
import { printLine } from "../print-line.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { exchangeLines } from "../../report/model/exchange-text.ts";
import { compareExchanges, type DifferenceRow, hasSignificantDifference } from "../../app/replay/compare-exchanges.ts";

const maxRows = 40;
const maxSameRows = 12;
const messageBounds = { bodyCharacters: 600, bodyLines: 10, headers: 12 } as const;

interface ReplayView {
  readonly chosen: ReplaySelection;
  readonly pairs: readonly ReplayPair[];
  readonly stopped: string | null;
  readonly command: string;
}

function replayText({ chosen, pairs, stopped, command }: ReplayView, style: TerminalStyle, isQuiet: boolean): string {
  const total = chosen.exchanges.length;
  const differing = pairs.filter(({ kept, now }) => hasSignificantDifference(compareExchanges(kept, now))).length;
  const lines = [
    ...(isQuiet ? [] : headingOf(chosen)),
    ...pairs.flatMap((pair, index) => pairLines(pair, `${index + 1} of ${total}`, style, isQuiet)),
    ...(isQuiet ? [] : caveats(chosen.exchanges)),
    summaryOf(pairs.length, differing, total, stopped),
    ...(isQuiet ? [] : [differenceLegend, `To judge it again: ${command}`]),
  ];
  return `${lines.join("\n")}\n`;
}

function headingOf({ findings }: ReplaySelection): string[] {
  return [
    ...findings.map(({ check, outcome, instance, expected, actual, reason }) => {
      const where = instance === undefined ? "" : ` (${sanitizeLine(instance, 40)})`;
      const text =
        expected === undefined ? (reason ?? actual ?? "") : `expected ${expected}; got ${actual ?? reason ?? ""}`;
      return `${sanitizeLine(check, 60)}${where} was saved as ${outcome}${text === "" ? "" : `: ${sanitizeLine(text, 400)}`}`;
    }),
    "",
  ];
}

function summaryOf(done: number, differing: number, total: number, stopped: string | null): string {
  const rest = stopped === null ? "" : `; ${stopped}${done < total ? `, ${total - done} not sent` : ""}`;
  if (done === 0) return `no response${rest}`;
  if (differing === 0) return `${formatCount(done, "response")} alike${rest}`;
  return `${differing} of ${formatCount(done, "response")} ${differing === 1 ? "differs" : "differ"}${rest}`;
}

function pairLines({ kept, now }: ReplayPair, place: string, style: TerminalStyle, isQuiet: boolean): string[] {
  const { paint, width } = style;
  const rows = compareExchanges(kept, now);
  const key = kept.key === null ? "" : `, with the key ${sanitizeLine(kept.key, 40)}`;
  const verdict = hasSignificantDifference(rows) ? paint.bold(paint.red("differs")) : paint.green("alike");
  return [
    `${paint.bold(sanitizeLine(kept.id, 40))}  ${sanitizeLine(now.request.method, 20)} ${sanitizeLine(now.request.url, 300)}${key} (${place}): ${verdict}`,
    ...(isQuiet ? [] : sentLines(now).map((sent) => `  ${paint.dim(sent)}`)),
    ...rowLines(rows, width, paint, isQuiet),
    ...unansweredLines(kept, "kept"),
    ...unansweredLines(now, "now"),
    "",
  ];
}

const sentLines = (exchange: Exchange): string[] =>
  exchangeLines(exchange, messageBounds)
    .slice(1)
    .filter((text) => text.startsWith(">"));

const unansweredLines = ({ answer }: Exchange, word: string): string[] =>
  answer.kind === "answered" ? [] : [`  * ${word}: ${answer.reason}: ${sanitizeLine(answer.detail)}`];

function rowLines(rows: readonly DifferenceRow[], width: number, paint: Paint, isQuiet: boolean): string[] {
  const of = (mark: DifferenceRow["mark"]): DifferenceRow[] => rows.filter((each) => each.mark === mark);
  const same = isQuiet ? [] : of("same");
  const different = [...of("significant"), ...(isQuiet ? [] : of("value"))];
  const usual = of("usual").map(({ name }) => sanitizeLine(name, 60));
  const nameWidth = Math.min(
    28,
    Math.max(0, ...[...same, ...different].map(({ name }) => displayWidth(sanitizeLine(name, 60)))),
  );
  const rowText = (mark: string, name: string, text: string): string =>
    `  ${mark} ${padToWidth(sanitizeLine(name, 60), nameWidth)}  ${sanitizeLine(text, Math.max(40, width - nameWidth - 12))}`;
  return [
    ...same.slice(0, maxSameRows).map(({ name, now }) => rowText(" ", name, now)),
    ...hiddenCountLines(same.length - maxSameRows, "more unchanged", paint),
    ...different.slice(0, maxRows).flatMap(({ mark, name, kept, now }) => {
      const sign = mark === "significant" ? "!" : "~";
      const emphasize = (text: string): string => (mark === "significant" ? paint.bold(text) : text);
      return [emphasize(rowText(sign, name, `saved ${kept}`)), emphasize(rowText(sign, "", `now ${now}`))];
    }),
    ...hiddenCountLines(different.length - maxRows, "more that differ", paint),
    ...(usual.length === 0 || isQuiet ? [] : [`    ${paint.dim(`differ every time: ${joinFirst(usual, 12)}`)}`]),
  ];
}

const hiddenCountLines = (count: number, what: string, paint: Paint): string[] =>
  count > 0 ? [`    ${paint.dim(`${count} ${what}`)}`] : [];

const differenceLegend = "! differs in status, error code or shape; ~ differs in something else";

function caveats(kept: readonly Exchange[]): string[] {
  const isClockAdvanced = new Set(kept.map(({ clockMs }) => clockMs)).size > 1;
  const overlaps = kept.some((each, index) => index > 0 && each.sentMs < (kept[index - 1]?.answer.endMs ?? 0));
  const isSigned = kept.some(({ request }) => request.headers.some(([name]) => name.toLowerCase() === "x-signature"));
  return [
    ...(overlaps ? ["The run sent them at the same time; the replay sent them in sequence."] : []),
    ...(isClockAdvanced ? ["The run advanced the target's clock between them; the replay did not."] : []),
    ...(isSigned ? ["The signature and its time are those of the run; a target may refuse them for their age."] : []),
  ];
}

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

/** `conformance replay REPORT CHECK`: sends the requests of a check again, and compares the responses. */
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
  const network = target?.network ?? networkFromFlags(flags);
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
  write(replayText(view, { paint: createPaint(style.colour), width: style.width }, flags.quiet === true));
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
