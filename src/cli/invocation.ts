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
  if (isBinary) return pathToRun(folder, execPath);
  const real = script === undefined ? null : realPathOf(script);
  if (real === null) return installedCommand;
  if (basename(real) === "main.ts") return `node ${relative(folder, real)}`;
  if (basename(real) !== "conformance.js") return installedCommand;
  const root = dirname(dirname(real));
  // Only a source checkout has the folder `tools`. Otherwise, this is an installed npm package.
  return existsSync(join(root, "tools", "setup.mjs")) ? `node ${relative(folder, real)}` : commandName;
}

const installedCommand = "conformance";

const pathToRun = (folder: string, file: string): string => {
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

/** Replaces `conformance` in a text's commands by the command that started this process: `node bin/conformance.js`. */
export const withInvocation = (text: string): string =>
  text.replace(printedCommand, (_, before: string) => `${before}${invocationOfThisProcess()} `);

const invocationOfThisProcess = (): string =>
  invocationOf({
    isBinary: isSea(),
    execPath: process.execPath,
    script: process.argv[1],
    folder: process.cwd(),
  });
