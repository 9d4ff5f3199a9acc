import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isSea } from "node:sea";

import { commandName } from "../report/reproduce/command-name.ts";
import { commandTable } from "./command-table.ts";

/** How this process was started. */
interface Start {
  /** Whether the process runs the single executable file. */
  readonly isBinary: boolean;
  readonly execPath: string;
  /** The started script; `undefined` if there is none. */
  readonly script: string | undefined;
  readonly folder: string;
}

/** The command that starts the harness again from the current folder, as this process was started. */
export function invocationOf({ isBinary, execPath, script, folder }: Start): string {
  if (isBinary) return shown(folder, execPath);
  const real = script === undefined ? null : realPathOf(script);
  if (real === null) return plain;
  if (basename(real) === "main.ts") return `node ${relative(folder, real)}`;
  if (basename(real) !== "conformance.js") return plain;
  const root = dirname(dirname(real));
  // Only a checkout has a tools folder. Users of the published package need its full name, because npx would install
  // another package for `conformance`.
  return existsSync(join(root, "tools", "setup.mjs")) ? `node ${relative(folder, real)}` : commandName;
}

const plain = "conformance";

const shown = (folder: string, file: string): string => {
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

/** Rewrites each `conformance` command in a printed text, so that it starts the harness as this process was started. */
export const withInvocation = (text: string): string =>
  text.replace(printedCommand, (_, before: string) => `${before}${invocation()} `);

const invocation = (): string =>
  invocationOf({
    isBinary: isSea(),
    execPath: process.execPath,
    script: process.argv[1],
    folder: process.cwd(),
  });
