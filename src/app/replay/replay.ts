import { statSync } from "node:fs";
import { basename, dirname } from "node:path";

import type { Secret } from "../../evidence/redaction.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import { counted } from "../../base/text.ts";
import type { Report } from "../../report/report.ts";
import { shellQuote } from "../../base/shell-words.ts";
import { readBaseUrl } from "../../target/base-url.ts";
import { readTargetFile } from "../../target/file.ts";
import { UsageProblem } from "../../target/problem.ts";
import type { Target } from "../../target/target.ts";
import { readKeptRun } from "../folder/kept-run.ts";
import { exitCodes } from "../../cli/exit-codes.ts";
import { onInterruption } from "../../cli/interruption.ts";
import { terminalOf } from "../../cli/terminal-of.ts";
import { choose, type Chosen } from "./choose.ts";
import { type Intent, isAgreed } from "../../cli/replaying/consent.ts";
import { differences, isNews } from "./differences.ts";
import { findKeys } from "./keys.ts";
import { requestAgain } from "./requests.ts";
import { isUnreachable, sendAgain, type SentAgain } from "./send-again.ts";
import { type Pair, shownPairs } from "./pairs.ts";
import { replayText } from "../../cli/replaying/show.ts";

/** What `conformance replay` takes. */
export interface ReplayFlags {
  readonly instance?: string;
  readonly baseUrl?: string;
  readonly target?: string;
  readonly apiKey?: string;
  readonly yes?: boolean;
  readonly quiet?: boolean;
}

/**
 * Sends the requests of a kept check again, and shows what comes beside what was kept. Gives the exit code.
 *
 * @throws {UsageProblem} before anything is sent
 */
export async function replay(path: string, check: string, flags: ReplayFlags): Promise<number> {
  const prepared = prepare(path, check, flags);
  const interruption = onInterruption();
  try {
    if (!(await isAgreed(prepared.intent, interruption))) {
      process.stderr.write("Nothing was sent.\n");
      return interruption.signal.aborted ? exitCodes.interrupted : exitCodes.usage;
    }
    const code = await sendAndShow(prepared, interruption.signal, flags.quiet === true);
    return interruption.signal.aborted ? exitCodes.interrupted : code;
  } finally {
    interruption.release();
  }
}

interface Prepared {
  readonly report: Report;
  readonly evidence: Evidence;
  readonly chosen: Chosen;
  readonly secrets: readonly Secret[];
  readonly intent: Intent;
  /** What judges it again. */
  readonly command: string;
}

function prepare(path: string, check: string, flags: ReplayFlags): Prepared {
  const { report, evidence } = readKeptRun(folderOf(path));
  const chosen = choose(report, evidence, check, flags.instance);
  const target = targetOf(flags);
  const baseUrl = addressOf(report, flags, target);
  const sources = { target, apiKey: flags.apiKey, environment: process.env };
  const keys = findKeys(chosen.exchanges, evidence.exchanges, sources);
  const move = { from: report.target.baseUrl, to: baseUrl };
  const requests = chosen.exchanges.map((kept) => requestAgain(kept, move, keys));
  const isAddressGiven = flags.baseUrl !== undefined || target !== null;
  return {
    report,
    evidence,
    chosen,
    secrets: keys.secrets,
    intent: { requests, baseUrl, isAddressGiven, variables: keys.variables, isYes: flags.yes === true },
    command: commandOf(chosen, baseUrl, target?.baseUrl === baseUrl ? flags.target : undefined),
  };
}

async function sendAndShow(prepared: Prepared, signal: AbortSignal, isQuiet: boolean): Promise<number> {
  const { chosen, command, intent } = prepared;
  process.stderr.write(`Sending ${counted(intent.requests.length, "request")} to ${intent.baseUrl} again\n`);
  const sent = await sendAgain(intent.requests, signal);
  const pairs = shownPairs({ ...prepared, sent });
  const { look, write } = terminalOf(process.stdout);
  write(replayText({ chosen, pairs, stopped: sent.stopped, command }, look, isQuiet));
  return exitCodeOf(pairs, sent);
}

/** `report.json` stands for the folder that it is in. */
const folderOf = (path: string): string =>
  basename(path) === "report.json" && statSync(path, { throwIfNoEntry: false })?.isFile() === true
    ? dirname(path)
    : path;

function targetOf({ target, apiKey }: ReplayFlags): Target | null {
  if (target === undefined) return null;
  if (apiKey !== undefined)
    throw new UsageProblem("--api-key and --target exclude each other: the target file says it.");
  return readTargetFile(target, process.env);
}

/** Keys of one deployment must not go to another by mistake. */
function addressOf({ target: { baseUrl } }: Report, flags: ReplayFlags, target: Target | null): string {
  if (flags.baseUrl !== undefined) return readBaseUrl(flags.baseUrl);
  const kept = readBaseUrl(baseUrl);
  if (target === null || target.baseUrl === kept) return kept;
  throw new UsageProblem(
    `The report is of ${kept}, the target file of ${target.baseUrl}: say with --base-url which of them is to be asked.`,
  );
}

/** @param file target file whose address was asked */
function commandOf({ findings }: Chosen, baseUrl: string, file: string | undefined): string {
  const only = [...new Set(findings.map(({ check }) => check))].map((check) => ` --only ${shellQuote(check)}`);
  const where = file === undefined ? `--base-url ${shellQuote(baseUrl)}` : `--target ${shellQuote(file)}`;
  return `conformance run ${where}${only.join("")}`;
}

function exitCodeOf(pairs: readonly Pair[], { exchanges, stopped }: SentAgain): number {
  if (exchanges.some(isUnreachable)) return exitCodes.nothingExercised;
  const isOther = pairs.some(({ kept, now }) => isNews(differences(kept, now)));
  return isOther || stopped !== null ? exitCodes.broken : exitCodes.fine;
}
