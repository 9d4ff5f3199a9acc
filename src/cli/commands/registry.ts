import { dirname, relative, resolve } from "node:path";

import { Command } from "commander";

import {
  buildRegistry,
  type RegistryBuildOptions,
  type BuiltRegistry,
  isReplaceable,
} from "../../app/registry/build-registry.ts";
import type { RegistryProblem } from "../../app/registry/statements.ts";
import { line, UsageError } from "../../base/line.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { formatCount } from "../../base/text.ts";
import { libraryMessages } from "../../library/scope.ts";
import { isCurrent } from "../../report/registry/entry.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { cliMessages } from "../messages.ts";
import { type FlagsOf, withOptions } from "../options.ts";
import { displayPath, prepareFolder } from "../output-files.ts";
import { terminalOf } from "../terminal.ts";
import { formatUsageError } from "../errors.ts";

const examples = `
The folder:
  acme/1.2.0.json     the statement of a vendor and version: what --statement has written
  acme/keys.json      his list of keys: \`conformance key list\` prints it (optional)
  acme/1.2.0/         the folder of the report (optional)

Examples:
  conformance registry vendors --out site
  conformance registry vendors --out site --url https://registry.example/

Exit codes: 0 the site is written; 1 a statement is broken, with a line for each, and no site is written; 2 usage; 4 the site could not be
written.`;

const registryOptions = {
  "--out <site>": { help: "folder of the site; an earlier site there is replaced", default: "site" },
  "--url <url>": "address of the site, for the links of the feed (default: relative links)",
} as const;

/** `conformance registry DIR`: verifies the statements in a folder, and makes a static site from them. */
export const registryCommand = (): Command =>
  withSteps(
    withOptions(
      new Command("registry").argument("<dir>", "folder of statements, with a folder for each vendor"),
      registryOptions,
    ).addHelpText("after", examples),
    { prepare, act: buildRegistry, present },
  );

function prepare(registry: string, { out, url }: FlagsOf<typeof registryOptions>): RegistryBuildOptions {
  if (out === "") throw new UsageError(line`--out is empty. Give a folder.`);
  const site = resolve(out);
  if (isWithin(site, resolve(registry)) || isWithin(resolve(registry), site))
    throw new UsageError(line`--out ${out} and ${registry} are in each other. Give the site a folder of its own.`);
  prepareFolder(dirname(site));
  if (!isReplaceable(site))
    throw new UsageError(line`--out ${out} has other files, which would be lost. Give a new folder.`);
  return {
    registry,
    site,
    url: url === undefined ? null : readUrl(url),
    messages: [cliMessages, libraryMessages],
    now: new Date(),
  };
}

const isWithin = (inner: string, outer: string): boolean => !/^\.\.(\/|\\|$)/.test(relative(outer, inner));

function readUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(line`--url is ${text}. Give an http or https URL, such as https://registry.example/.`);
  return url.href.endsWith("/") ? url.href : `${url.href}/`;
}

function present(built: BuiltRegistry, { site }: RegistryBuildOptions): number {
  const { write } = terminalOf(process.stdout);
  if (built.kind === "broken") {
    const { problems } = built;
    const lines = [...problems.map((each) => `✗ ${problemLine(each)}`), "not built: no site was written, or changed"];
    write(`${lines.join("\n")}\n`);
    return exitCodes.broken;
  }
  const { entries, now } = built.registry;
  const old = entries.filter((entry) => !isCurrent(entry, now)).length;
  const more = old === 0 ? "" : `, ${old} expired or with a newer one`;
  write(`site  ${displayPath(site)}: ${formatCount(entries.length, "statement")}, all verified${more}\n`);
  return exitCodes.fine;
}

function problemLine({ path, reason }: RegistryProblem): string {
  const text = typeof reason === "string" ? reason : (formatUsageError(reason) ?? reason.message);
  return `${sanitizeLine(path, 200)}: ${sanitizeLine(text, 500)}`;
}
