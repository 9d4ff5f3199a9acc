import { join } from "node:path";

import { Command } from "commander";

import { findEngines } from "../../app/load/available-engines.ts";
import { defaultLoadParameters, assertScenariosAndEngine } from "../../app/load/plan-load.ts";
import { ContradictoryReport, readReportWithoutEvidence } from "../../app/report-folder/saved-report.ts";
import {
  defaultConcurrency,
  type VendorOutcome,
  type ListedVendor,
  type PrintLine,
  readVendorsFile,
} from "../../app/vendors/judge-vendor.ts";
import { type JudgedVendors, judgeVendors, vendorsJson, type VendorsLoad } from "../../app/vendors/judge-vendors.ts";
import { displayWidth, padToWidth } from "../../base/text.ts";
import { timeInName } from "../../base/files/output-folders.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { line, UsageError } from "../../base/line.ts";
import { runExitCode } from "../../report/model/verdict.ts";
import { renderVendorsMarkdown } from "../../report/vendors/markdown.ts";
import { renderVendorsPage } from "../../report/vendors/page.ts";
import { renderVendorsTerminal } from "../../report/vendors/terminal.ts";
import { askConsent, assertConsentPossible } from "../ask-user.ts";
import { decisiveExitCode, exitCodes } from "../../base/process-end.ts";
import { registerSecrets } from "../errors.ts";
import { untilInterrupted } from "../interruption.ts";
import { readEngine } from "../load/load-flags.ts";
import { formatLoadPreview, notSentExitCode, withLoadSteps } from "../load/load-messages.ts";
import { printLine, reportUnwrittenOutput } from "../print-line.ts";
import { type FlagsOf, readCount, repeatable, withOptions } from "../options.ts";
import { displayPath, prepareFiles, prepareLockedFolder, writeOutputs } from "../output-files.ts";
import { loadExitCode } from "../report/present-report.ts";
import { readScope, scopeAndBoundOptions, type ScopeFlags } from "../scope-flags.ts";
import { terminalOf } from "../terminal.ts";

const vendorsOptions = {
  "--concurrency <n>": { help: "judge at most this many at the same time", default: String(defaultConcurrency) },
  "--load <scenario>": repeatable("load them as well, one after another: `conformance load list`"),
  "--engine <name>": "k6 or autocannon, for --load (default: each scenario's own)",
  "-y, --yes": "the owners of the targets agree to the load: do not ask",
  "--from <name>": "list what a client meets that leaves this vendor (default: every pair)",
  "--out <dir>": "folder for a report of each, and vendors.json (default: a new one under reports/)",
  "--html <file>": "one page for people, that stands alone",
  "--markdown <file>": "the same as Markdown",
  "--json <file>": "the same as JSON; - prints it, and nothing else, on standard output",
  "-q, --quiet": "no progress",
} as const;

type VendorsFlags = FlagsOf<typeof vendorsOptions> & ScopeFlags;

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
  conformance vendors vendors.json --from Acme --html from-acme.html
  conformance vendors vendors.json --json - | jq '.vendors[] | { name, verdict }'

Exit codes: 0 all were judged, and none is nonconformant; 1 one is nonconformant, or broke what load demands; 2 usage; 3 one could not be
judged, or not to its end, or its load was invalid or could not be sent; 4 the harness itself failed, or an output could not be written; 130 interrupted (what is there is shown and
written).`;

/** `conformance vendors FILE`: judges several deployments and compares them. */
export const vendorsCommand = (): Command =>
  withLoadSteps(
    withOptions(
      new Command("vendors").argument("<file>", "vendors file: names, and targets or saved reports"),
      scopeAndBoundOptions,
      vendorsOptions,
    ).addHelpText("after", examples),
    { prepare, act, present },
  );

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function prepare(file: string, flags: VendorsFlags) {
  const vendors = readVendorsFile(file, process.env).map(withRegisteredSecrets);
  const load = await readLoad(flags);
  const scope = readScope(flags);
  const concurrency = readCount(flags.concurrency, "--concurrency");
  const outputs = prepareFiles(["json", "html", "markdown"], flags);
  const folder = prepareLockedFolder(flags.out ?? join("reports", `${timeInName(new Date())}-vendors`));
  assertConsistentReports(vendors);
  if (load !== null) assertConsentsPossible(vendors, flags.yes === true);
  return { vendors, load, scope, concurrency, folder, outputs, flags };
}

const withRegisteredSecrets = (vendor: ListedVendor): ListedVendor =>
  vendor.kind === "report" ? vendor : { ...vendor, target: () => registerSecrets(vendor.target()) };

async function readLoad(flags: VendorsFlags): Promise<Pick<VendorsLoad, "parameters" | "engines"> | null> {
  if (flags.load.length === 0) return null;
  const parameters = {
    ...defaultLoadParameters,
    scenarios: flags.load,
    engine: readEngine(flags.engine) ?? "first",
  } as const;
  const engines = await findEngines();
  assertScenariosAndEngine(parameters, true, engines);
  return { parameters, engines };
}

function assertConsentsPossible(vendors: readonly ListedVendor[], isYes: boolean): void {
  for (const each of vendors) {
    const baseUrl = each.kind === "report" ? null : baseUrlOf(each);
    if (baseUrl !== null) assertConsentPossible(baseUrl, isYes);
  }
}

function assertConsistentReports(vendors: readonly ListedVendor[]): void {
  for (const vendor of vendors)
    for (const path of [vendor.load, vendor.kind === "report" ? vendor.report : null]) {
      try {
        if (path !== null) readReportWithoutEvidence(path);
      } catch (error) {
        if (error instanceof ContradictoryReport) throw error;
      }
    }
}

function baseUrlOf({ target }: Extract<ListedVendor, { kind: "target" }>): string | null {
  try {
    return target().baseUrl;
  } catch (error) {
    // If a vendor's target is invalid, the other vendors are still judged. The invalid target's column shows the error.
    if (error instanceof UsageError) return null;
    throw error;
  }
}

type VendorsOutcome = JudgedVendors & { readonly isInterrupted: boolean };

const act = ({ load, scope, flags, ...options }: Prepared): Promise<VendorsOutcome> =>
  untilInterrupted(async ({ signal, isInterrupted, interrupt }) => {
    const judged = await judgeVendors({
      ...options,
      from: flags.from ?? null,
      judging: { ...scope, signal, onLoss: reportUnwrittenOutput },
      load:
        load === null
          ? null
          : {
              ...load,
              planned: (preview) => terminalOf(process.stderr).write(formatLoadPreview(preview)),
              agree: () => flags.yes === true || askConsent({ signal, interrupt }),
            },
      sayOf: progressPrinters(
        options.vendors.map(({ name }) => name),
        flags.quiet === true,
      ),
    });
    return { ...judged, isInterrupted: isInterrupted() };
  });

function progressPrinters(names: readonly string[], isQuiet: boolean): (name: string) => PrintLine {
  const width = Math.max(...names.map((name) => displayWidth(sanitizeLine(name, 30))));
  return (name) => (text) => {
    if (!isQuiet) printLine(line`${padToWidth(sanitizeLine(name, 30), width)}  ${sanitizeLine(text, 240)}`);
  };
}

function present({ judged, sideBySide, isInterrupted }: VendorsOutcome, { folder, outputs }: Prepared): number {
  const render = {
    json: () => vendorsJson(sideBySide),
    html: () => renderVendorsPage(sideBySide),
    markdown: () => renderVendorsMarkdown(sideBySide),
  };
  const { style, write } = terminalOf(outputs.isStdoutTaken ? process.stderr : process.stdout);
  write(renderVendorsTerminal(sideBySide, style));
  write(`reports  ${displayPath(folder)}\n`);
  writeOutputs(outputs, (name) => render[name]());
  return vendorsExitCode(judged, isInterrupted);
}

export const vendorsExitCode = (judged: readonly VendorOutcome[], isInterrupted: boolean): number =>
  isInterrupted ? exitCodes.interrupted : decisiveExitCode(judged.flatMap(exitCodesOf));

function exitCodesOf({ vendor, isHarnessError, noLoad }: VendorOutcome): number[] {
  if (vendor.kind === "unjudged") return [isHarnessError ? exitCodes.harnessFailed : exitCodes.nothingExercised];
  const { document, load } = vendor;
  const own = runExitCode(document.report);
  const ofLoad = noLoad === null ? null : notSentExitCode(noLoad);
  return [own, ofLoad ?? own, load === null ? own : loadExitCode(load.report)];
}
