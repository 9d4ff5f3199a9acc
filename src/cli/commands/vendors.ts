import { basename, dirname, join } from "node:path";

import { Command } from "commander";

import { timeInName } from "../../base/file-names.ts";
import { findEngines } from "../../app/load/engines.ts";
import { assertScenariosAndEngine } from "../../app/load/plan-load.ts";
import { type LoadParameters, defaultLoadParameters } from "../../app/load/load-parameters.ts";
import { defaultConcurrency } from "../../app/vendors/judge-concurrently.ts";
import { type JudgedVendors, judgeVendors, sideBySideJson } from "../../app/vendors/judge-vendors.ts";
import type { VendorsLoad } from "../../app/vendors/load-vendors.ts";
import { type NamedVendor, readVendorsFile } from "../../app/vendors/vendors-file.ts";
import type { RunScope } from "../../run/plan/selection.ts";
import { UsageError } from "../../base/usage-error.ts";
import { renderVendorsMarkdown } from "../../report/vendors/markdown.ts";
import { renderVendorsPage } from "../../report/vendors/page.ts";
import { renderVendorsTerminal } from "../../report/vendors/terminal.ts";
import { collect } from "../option-parsers.ts";
import { readCount } from "../option-parsers.ts";
import { registerSecrets } from "../harness-errors.ts";
import { type Interruption, onInterruption } from "../interruption.ts";
import { askConsent, assertConsentPossible } from "../consent.ts";
import { formatLoadPreview } from "../load/preview.ts";
import { readEngine } from "../load/load-flags.ts";
import { withCliMessages } from "../load/not-sent.ts";
import { displayPath } from "../nearer.ts";
import { writeFiles } from "../../app/report-folder/write-files.ts";
import { prepareFile, prepareFolder } from "../output.ts";
import { readScope, type ScopeFlags, withScopeOptions } from "../scope-flags.ts";
import { terminalOf } from "../terminal.ts";
import { vendorsExitCode } from "../vendors/exit-code.ts";
import { progressOf } from "../vendors/progress.ts";

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
  const command = new Command("vendors").argument("<file>", "vendors file: names, and targets or kept reports");
  return withScopeOptions(command)
    .option("--concurrency <n>", "judge no more than so many at once", String(defaultConcurrency))
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
      process.exitCode = await withCliMessages(() => compareVendors(file, flags));
    });
}

/** Everything that can be wrong with the flags is found before anything is sent. */
interface Prepared {
  readonly vendors: readonly NamedVendor[];
  readonly scope: RunScope;
  readonly concurrency: number;
  readonly folder: string;
  readonly html: string | null;
  readonly markdown: string | null;
  readonly json: string | null;
}

function prepare(vendors: readonly NamedVendor[], flags: VendorsFlags): Prepared {
  const fileOf = (path: string | undefined, flag: string): string | null =>
    path === undefined || path === "-" ? null : prepareFile(path, flag);
  for (const flag of ["html", "markdown"] as const)
    if (flags[flag] === "-") throw new UsageError(`--${flag} - is not possible: give a file.`);
  return {
    vendors,
    scope: readScope(flags),
    concurrency: flags.concurrency === undefined ? defaultConcurrency : readCount(flags.concurrency, "--concurrency"),
    html: fileOf(flags.html, "--html"),
    markdown: fileOf(flags.markdown, "--markdown"),
    json: fileOf(flags.json, "--json"),
    folder: prepareFolder(flags.out ?? join("reports", `${timeInName(new Date())}-vendors`)),
  };
}

async function compareVendors(file: string, flags: VendorsFlags): Promise<number> {
  const vendors = readVendorsFile(file, process.env).map(minded);
  const load = await wantedLoad(flags);
  const prepared = prepare(vendors, flags);
  if (load !== null) demandConsents(vendors, flags.yes === true);
  const interruption = onInterruption();
  try {
    const all = await judgeVendors({
      ...prepared,
      judging: { ...prepared.scope, signal: interruption.signal },
      load: load === null ? null : { ...load, ...asking(flags, interruption) },
      sayOf: progressOf(
        vendors.map(({ name }) => name),
        flags.quiet === true,
      ),
    });
    show(all, prepared, flags);
    return vendorsExitCode(all.judged, interruption.signal.aborted);
  } finally {
    interruption.release();
  }
}

const minded = (vendor: NamedVendor): NamedVendor =>
  vendor.kind === "report" ? vendor : { ...vendor, target: () => registerSecrets(vendor.target()) };

/** @throws {LoadProblem} */
async function wantedLoad(flags: VendorsFlags): Promise<Pick<VendorsLoad, "wish" | "engines"> | null> {
  if (flags.load.length === 0) return null;
  const wish: LoadParameters = {
    ...defaultLoadParameters,
    scenarios: flags.load,
    engine: readEngine(flags.engine) ?? "first",
  };
  const engines = await findEngines();
  assertScenariosAndEngine(wish, true, engines);
  return { wish, engines };
}

const asking = (
  { yes }: VendorsFlags,
  { signal, interrupt }: Interruption,
): Pick<VendorsLoad, "planned" | "agree"> => ({
  planned: (outlook) => terminalOf(process.stderr).write(formatLoadPreview(outlook)),
  agree: () => yes === true || askConsent(signal, interrupt),
});

/**
 * Load needs somebody who agrees to it: that nobody can is found before anything is sent.
 *
 * @throws {UsageError}
 */
function demandConsents(vendors: readonly NamedVendor[], isYes: boolean): void {
  for (const each of vendors) {
    if (each.kind === "report") continue;
    const baseUrl = baseUrlOf(each);
    if (baseUrl !== null) assertConsentPossible(baseUrl, isYes);
  }
}

function baseUrlOf({ target }: Extract<NamedVendor, { kind: "target" }>): string | null {
  try {
    return target().baseUrl;
  } catch (error) {
    // Its column says so.
    if (error instanceof UsageError) return null;
    throw error;
  }
}

function show({ sideBySide, problem }: JudgedVendors, prepared: Prepared, flags: VendorsFlags): void {
  const json = sideBySideJson(sideBySide);
  const problems = problem === null ? [] : [problem];
  const write = (path: string | null, textOf: () => string): void => {
    if (path === null) return;
    const written = writeFiles(dirname(path), { [basename(path)]: textOf() });
    if (written.problem !== null) problems.push(written.problem);
  };
  write(prepared.json, () => json);
  write(prepared.html, () => renderVendorsPage(sideBySide));
  write(prepared.markdown, () => renderVendorsMarkdown(sideBySide));
  const isPrinted = flags.json === "-";
  if (isPrinted) process.stdout.write(json);
  const terminal = terminalOf(isPrinted ? process.stderr : process.stdout);
  terminal.write(renderVendorsTerminal(sideBySide, terminal.look));
  terminal.write(`reports  ${displayPath(prepared.folder)}\n`);
  for (const sentence of problems) process.stderr.write(`${sentence}\n`);
}
