import { basename, dirname, join, relative } from "node:path";

import { Command } from "commander";

import { sideBySideMarkdown } from "../../vendors/markdown.ts";
import { sideBySidePage } from "../../vendors/page.ts";
import { type SideBySide, sideBySide } from "../../vendors/side-by-side.ts";
import { renderSideBySide } from "../../vendors/terminal.ts";
import type { RunScope } from "../../run/selection.ts";
import { UsageProblem } from "../../target/problem.ts";
import { readCount } from "../duration.ts";
import { type Interruption, onInterruption } from "../interruption.ts";
import { chooseScenarios } from "../../app/load/choice.ts";
import { demandConsentIsPossible } from "../loading/confirmation.ts";
import { readSending } from "../loading/load-flags.ts";
import { writeFiles } from "../../app/folder/write-files.ts";
import { prepareFile, prepareFolder } from "../output.ts";
import { readScope, type ScopeFlags, withScopeOptions } from "../scope-flags.ts";
import { terminalOf } from "../terminal-of.ts";
import { vendorsExitCode } from "../vendors/exit-code.ts";
import { judgeAll } from "../../app/vendors/judge-all.ts";
import { foldersOf, type JudgedVendor } from "../../app/vendors/judge-vendor.ts";
import { loadVendors } from "../../app/vendors/load-vendors.ts";
import { progressOf } from "../vendors/progress.ts";
import { type NamedVendor, readVendorsFile } from "../../app/vendors/vendors-file.ts";

interface VendorsFlags extends ScopeFlags {
  readonly concurrency?: string;
  readonly load: readonly string[];
  readonly engine?: string;
  readonly yes?: boolean;
  readonly out?: string;
  readonly html?: string;
  readonly markdown?: string;
  readonly json?: string;
  readonly quiet?: boolean;
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

const examples = `
The file:
  { "vendors": [
      { "name": "Acme", "target": "acme.json" },
      { "name": "Borealis", "target": { "baseUrl": "https://api.borealis.example/v1", "keys": { "pro": { "key": "\${BOREALIS_PRO}" } } } },
      { "name": "Acme, last month", "report": "reports/2026-01-31T02-00-00-000Z-acme" } ] }

Examples:
  conformance vendors vendors.json --html vendors.html
  conformance vendors vendors.json --only 'LIM-*' --only 'HDR-*' --max-wait 5m
  conformance vendors vendors.json --load burst --load concurrency --yes --out reports/vendors
  conformance vendors vendors.json --json - | jq '.vendors[] | { name, verdict }'

Exit codes: 0 all were judged, and none is nonconformant; 1 one is nonconformant, or broke what load demands; 2 usage; 3 one could not be
judged, or its load was invalid; 4 the harness itself failed; 130 interrupted (what is there is shown and written).`;

/** `conformance vendors FILE`: several deployments side by side. */
export function vendorsCommand(): Command {
  const command = new Command("vendors")
    .argument("<file>", "vendors file: names, and targets or kept reports")
    .description("Judge several deployments at the same time, and show them side by side.");
  return withScopeOptions(command)
    .option("--concurrency <n>", "judge no more than so many at once", "4")
    .option(
      "--load <scenario>",
      "load them as well, one after the other: `conformance load list` (repeatable)",
      collect,
      [],
    )
    .option("--engine <name>", "k6 or autocannon, for --load (default: each scenario's own)")
    .option("-y, --yes", "the owners of the targets agree to the load: do not ask")
    .option("--out <dir>", "folder for a report of each, and vendors.json (default: a new one under reports/)")
    .option("--html <file>", "one page for people, that stands alone")
    .option("--markdown <file>", "the same as Markdown")
    .option("--json <file>", "the same as JSON; - prints it, and nothing else, on standard output")
    .option("-q, --quiet", "no lines on how the runs go on")
    .addHelpText("after", examples)
    .action(async (file: string, flags: VendorsFlags) => {
      process.exitCode = await compareVendors(file, flags);
    });
}

/** Everything that can be wrong with the flags is found before anything is sent. */
interface Prepared {
  readonly vendors: readonly NamedVendor[];
  readonly scope: RunScope;
  readonly concurrency: number;
  readonly sending: ReturnType<typeof readSending>;
  readonly folder: string;
  readonly html: string | null;
  readonly markdown: string | null;
  readonly json: string | null;
}

function prepare(file: string, flags: VendorsFlags): Prepared {
  const vendors = readVendorsFile(file, process.env);
  if (flags.load.length > 0) chooseScenarios(flags.load, false, true);
  const fileOf = (path: string | undefined, flag: string): string | null =>
    path === undefined || path === "-" ? null : prepareFile(path, flag);
  for (const flag of ["html", "markdown"] as const)
    if (flags[flag] === "-") throw new UsageProblem(`--${flag} - is not possible: give a file.`);
  return {
    vendors,
    scope: readScope(flags),
    concurrency: readCount(flags.concurrency ?? "4", "--concurrency"),
    sending: readSending({ ...(flags.engine === undefined ? {} : { engine: flags.engine }), fault: [], variant: [] }),
    html: fileOf(flags.html, "--html"),
    markdown: fileOf(flags.markdown, "--markdown"),
    json: fileOf(flags.json, "--json"),
    folder: prepareFolder(flags.out ?? join("reports", `${new Date().toISOString().replace(/[:.]/g, "-")}-vendors`)),
  };
}

async function compareVendors(file: string, flags: VendorsFlags): Promise<number> {
  const prepared = prepare(file, flags);
  if (flags.load.length > 0) demandConsents(prepared.vendors, flags.yes === true);
  const interruption = onInterruption();
  try {
    const judged = await perform(prepared, flags, interruption);
    show(
      sideBySide(
        judged.map(({ vendor }) => vendor),
        new Date().toISOString(),
      ),
      prepared,
      flags,
    );
    return vendorsExitCode(judged, interruption.signal.aborted);
  } finally {
    interruption.release();
  }
}

async function perform(prepared: Prepared, flags: VendorsFlags, interruption: Interruption): Promise<JudgedVendor[]> {
  const names = prepared.vendors.map(({ name }) => name);
  const folders = foldersOf(names, prepared.folder);
  const folderOf = (name: string): string => folders.get(name) ?? prepared.folder;
  const sayOf = progressOf(names, flags.quiet === true);
  const { vendors, concurrency, sending } = prepared;
  const judging = { ...prepared.scope, signal: interruption.signal };
  const judged = await judgeAll({ vendors, judging, concurrency, folderOf, sayOf });
  if (flags.load.length === 0) return judged;
  const loading = { scenarios: flags.load, sending, isYes: flags.yes === true, interruption };
  return loadVendors(judged, loading, folderOf, sayOf);
}

/**
 * Load needs somebody who agrees to it: that nobody can is found before anything is sent.
 *
 * @throws {UsageProblem}
 */
function demandConsents(vendors: readonly NamedVendor[], isYes: boolean): void {
  for (const each of vendors) {
    if (each.kind === "report") continue;
    const baseUrl = baseUrlOf(each);
    if (baseUrl !== null) demandConsentIsPossible(baseUrl, isYes);
  }
}

function baseUrlOf({ target }: Extract<NamedVendor, { kind: "target" }>): string | null {
  try {
    return target().baseUrl;
  } catch (error) {
    // Its column says so.
    if (error instanceof UsageProblem) return null;
    throw error;
  }
}

function show(all: SideBySide, prepared: Prepared, flags: VendorsFlags): void {
  const json = `${JSON.stringify(all, null, 2)}\n`;
  const problems: string[] = [];
  const write = (path: string, text: string): void => {
    const { problem } = writeFiles(dirname(path), { [basename(path)]: text });
    if (problem !== null) problems.push(problem);
  };
  write(join(prepared.folder, "vendors.json"), json);
  if (prepared.json !== null) write(prepared.json, json);
  if (prepared.html !== null) write(prepared.html, sideBySidePage(all));
  if (prepared.markdown !== null) write(prepared.markdown, sideBySideMarkdown(all));
  const isPrinted = flags.json === "-";
  if (isPrinted) process.stdout.write(json);
  const terminal = terminalOf(isPrinted ? process.stderr : process.stdout);
  terminal.write(renderSideBySide(all, terminal.look));
  const nearer = relative(process.cwd(), prepared.folder);
  terminal.write(`reports  ${nearer.startsWith("..") ? prepared.folder : nearer}\n`);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
}
