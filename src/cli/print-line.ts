import { decisiveExitCode, exitCodes } from "../base/process-end.ts";
import { redactSecrets } from "./errors.ts";
import { fromOutside, joinLines, type Line } from "../base/errors.ts";
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isSea } from "node:sea";
import { commandName } from "../report/reproduce/curl.ts";
import { commandTable } from "./command-table.ts";

interface ProcessStart {
  readonly isBinary: boolean;
  readonly execPath: string;
  readonly script: string | undefined;
  readonly folder: string;
}

/** Returns the shell command that starts the harness, derived from how this process was started. */
export function invocationOf({ isBinary, execPath, script, folder }: ProcessStart): string {
  if (isBinary) return shownPath(folder, execPath);
  const real = script === undefined ? null : realPathOf(script);
  if (real === null) return plain;
  if (basename(real) === "main.ts") return `node ${relative(folder, real)}`;
  if (basename(real) !== "conformance.js") return plain;
  const root = dirname(dirname(real));
  // Only a source checkout has the folder `tools`. Otherwise, this is an installed npm package.
  return existsSync(join(root, "tools", "setup.mjs")) ? `node ${relative(folder, real)}` : commandName;
}

const plain = "conformance";

const shownPath = (folder: string, file: string): string => {
  const path = relative(folder, file);
  return path.startsWith("..") ? file : `./${path}`;
};

function realPathOf(file: string): string | null {
  try {
    return realpathSync(file);
  } catch {
    return null;
  }
}

const commandNames = Object.keys(commandTable).join("|");
const printedCommand = new RegExp(`(^|[\`(\\s])(?:${commandName}|conformance) (?=(?:${commandNames}|--help)\\b)`, "gm");

/**
 * Replaces `conformance` in printed commands by the command that the user ran, e.g. `npx agent-hosting-conformance`.
 */
export const withInvocation = (text: string): string =>
  text.replace(printedCommand, (_, before: string) => `${before}${invocationOfThisProcess()} `);

const invocationOfThisProcess = (): string =>
  invocationOf({
    isBinary: isSea(),
    execPath: process.execPath,
    script: process.argv[1],
    folder: process.cwd(),
  });

/** Prints a message on standard error, without secrets. The type {@link Line} excludes control characters. */
export const printLine = (text: Line): void => void process.stderr.write(`${withInvocation(redactSecrets(text))}\n`);

export const printLines = (texts: readonly Line[]): void => {
  if (texts.length > 0) printLine(joinLines(texts, "\n"));
};

export const printText = (text: string): void => printLines(text.split("\n").map(fromOutside));

let hasUnwrittenOutput = false;

export const forgetUnwrittenOutputs = (): void => void (hasUnwrittenOutput = false);

export function reportUnwrittenOutput(sentence: string): void {
  printText(sentence);
  recordUnwrittenOutput();
}

export function recordUnwrittenOutput(): void {
  hasUnwrittenOutput = true;
  if (process.exitCode !== undefined) process.exitCode = exitCodeWithUnwrittenOutputs(Number(process.exitCode));
}

/** Returns a command's exit code: `code`, or 4 if an output was lost and nothing more serious happened. */
export const exitCodeWithUnwrittenOutputs = (code: number): number =>
  hasUnwrittenOutput ? decisiveExitCode([code, exitCodes.harnessFailed]) : code;
