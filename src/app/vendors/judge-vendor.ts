import type { ReportDocument } from "../../report/model/report.ts";
import { narrowReport } from "../../report/model/requirements.ts";
import { countsIn, type RequirementSet } from "../../spec/clause.ts";
import { basename, dirname, join, resolve } from "node:path";
import { formatDuration } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import { line, UsageError } from "../../base/line.ts";
import { sumOf } from "../../base/numbers.ts";
import { assertOpenFiles } from "../../base/harness-limit.ts";
import { slug } from "../../base/files/output-folders.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { vendorSummary } from "../../report/vendors/comparison.ts";
import { formatClauseCounts } from "../../report/vendors/summary.ts";
import { type Vendor, vendorsSchemaWith } from "../../report/vendors/vendor.ts";
import type { RunScope } from "../../run/plan/selection.ts";
import type { Target } from "../../target/target.ts";
import { maxConnectionsOfRun, judgeTarget } from "../judge/judge-target.ts";
import type { NotSentReason } from "../load/not-sent-reason.ts";
import { documentOf, readReportDocument, saveRun } from "../report-folder/saved-report.ts";
import { warnOfUnwrittenFiles } from "../report-folder/write-files.ts";
import { z } from "zod";
import { parseAs } from "../../base/parsing.ts";
import { parseJsonFile, readTextFile } from "../../base/read-file.ts";
import { readTargetFile, targetFromObject } from "../../target/target-file.ts";

/** An entry of a vendors file: a target or a saved report. `target()` reads the target, and throws if it is wrong. */
export type ListedVendor =
  | { readonly kind: "target"; readonly name: string; readonly target: () => Target; readonly load: string | null }
  | { readonly kind: "report"; readonly name: string; readonly report: string; readonly load: string | null };

/** Accepts any object as a target. `ListedVendor.target()` checks the object, so that an error affects only one vendor. */
const vendorsSchema = vendorsSchemaWith(z.record(z.string(), z.unknown()));

/** Reads a vendors file. Paths are relative to the file's folder. A target is read only when `target()` is called. */
export function readVendorsFile(
  file: string,
  environment: Readonly<Record<string, string | undefined>>,
): ListedVendor[] {
  const parsed = parseAs(parseJsonFile(readTextFile(file, "The vendors file"), file), vendorsSchema);
  if (parsed.kind === "problem") throw new UsageError(line`${file}: ${parsed.problem}.`);
  const path = (name: string): string => resolve(dirname(file), name);
  return parsed.value.vendors.map((vendor): ListedVendor => {
    const { name, load } = vendor;
    const kept = load === undefined ? null : path(load);
    if ("report" in vendor) return { kind: "report", name, report: path(vendor.report), load: kept };
    const { target } = vendor;
    const read = (): Target =>
      typeof target === "string"
        ? readTargetFile(path(target), environment)
        : targetFromObject(target, `${file}, target of ${JSON.stringify(name)}`, environment, {
            folder: dirname(file),
          });
    return { kind: "target", name, target: read, load: kept };
  });
}

export type PrintLine = (text: string) => void;

interface VendorsRunOptions extends RunScope {
  readonly signal: AbortSignal;
  readonly onLoss?: (sentence: string) => void;
}

export interface VendorOutcome {
  readonly vendor: Vendor;
  readonly target: Target | null;
  /** Whether an error of the harness, not of the target, prevented the verdict. */
  readonly isHarnessError: boolean;
  readonly noLoad: NotSentReason | null;
}

async function judgeVendor(
  named: ListedVendor,
  target: Target | null,
  judging: VendorsRunOptions,
  folder: string,
  say: PrintLine,
): Promise<VendorOutcome> {
  const judged = (vendor: Vendor): VendorOutcome => ({ vendor, target, isHarnessError: false, noLoad: null });
  try {
    if (named.kind === "report") return judged(readSavedVendor(named, judging.requirements));
    if (target === null) throw new Error("the target was not read");
    return judged(await runVendor(named, target, judging, folder, say));
  } catch (error) {
    const isHarnessError = !(error instanceof UsageError);
    const text = messageOf(error);
    const reason = isHarnessError ? `The harness itself failed; this is not the target's fault: ${text}` : text;
    say(`not judged: ${reason}`);
    return { ...failedVendor(named, target, reason), isHarnessError };
  }
}

const failedVendor = ({ name }: ListedVendor, target: Target | null, reason: string): VendorOutcome => ({
  vendor: unjudgedVendor(name, target, reason),
  target: null,
  isHarnessError: false,
  noLoad: null,
});

const unjudgedVendor = (name: string, target: Target | null, reason: string): Vendor => ({
  kind: "unjudged",
  name,
  baseUrl: target?.baseUrl ?? null,
  reason,
});

const narrowedToSet = (document: ReportDocument, requirements: RequirementSet): ReportDocument =>
  countsIn(requirements, document.report.suite.requirements)
    ? { ...document, report: narrowReport(document.report, requirements) }
    : document;

function readSavedVendor(
  { name, report, load }: Extract<ListedVendor, { kind: "report" }>,
  requirements: RequirementSet,
): Vendor {
  const document = narrowedToSet(readReportDocument(report), requirements);
  if (document.report.load !== undefined)
    throw new UsageError(
      line`${report} is the report of a load run: give it as \`load\`, and the report of a run as \`report\`.`,
    );
  return { kind: "judged", name, document, load: readSavedLoad(load, requirements), isKept: true, notes: [] };
}

function readSavedLoad(path: string | null, requirements: RequirementSet) {
  if (path === null) return null;
  const document = readReportDocument(path);
  if (document.report.load === undefined) throw new UsageError(line`${path} is no report of a load run.`);
  return narrowedToSet(document, requirements);
}

async function runVendor(
  { name, load }: ListedVendor,
  target: Target,
  judging: VendorsRunOptions,
  folder: string,
  say: PrintLine,
): Promise<Vendor> {
  const kept = readSavedLoad(load, judging.requirements);
  say(`judging ${target.baseUrl}`);
  const session = await judgeTarget({
    ...judging,
    target,
    patches: [],
    events: {
      onPlan: (probes) => say(`${probes} probes`),
      onWait: (ms, why) => {
        if (ms > maxUnprintedWaitMs) say(`waiting ${formatDuration(ms)}: ${why}`);
      },
    },
  });
  const { problem } = saveRun(folder, session);
  if (problem !== null) (judging.onLoss ?? warnOfUnwrittenFiles)(problem);
  if (session.kind === "nothing to judge") {
    say(`not judged: ${session.sentence}`);
    return unjudgedVendor(name, target, session.sentence);
  }
  const document = documentOf(session.report, session.evidence);
  const vendor: Vendor = { kind: "judged", name, document, load: kept, isKept: false, notes: [] };
  const head = vendorSummary(vendor);
  if (head.kind === "judged") say(`${head.verdict}: ${formatClauseCounts(head)}`);
  return vendor;
}

const maxUnprintedWaitMs = 2000;

export function foldersOf(names: readonly string[], out: string): Map<string, string> {
  const taken = new Set<string>();
  return new Map(
    names.map((name) => {
      const own = slug(sanitizeLine(name, 60)) || "vendor";
      let free = own;
      for (let at = 2; taken.has(free); at += 1) free = `${own}-${at}`;
      taken.add(free);
      return [name, join(out, basename(free))];
    }),
  );
}

export const defaultConcurrency = 12;

export interface ConcurrentJudging {
  readonly vendors: readonly ListedVendor[];
  readonly judging: VendorsRunOptions;
  readonly concurrency: number;
  readonly folderOf: (name: string) => string;
  readonly sayOf: (name: string) => PrintLine;
}

/**
 * Judges vendors concurrently. Vendors with the same base URL are judged in turn, because their runs would disturb each
 * other.
 */
export async function judgeConcurrently({
  vendors,
  judging,
  concurrency,
  folderOf,
  sayOf,
}: ConcurrentJudging): Promise<VendorOutcome[]> {
  const results = new Map<ListedVendor, VendorOutcome>();
  const entries = vendors.map((named) => ({ named, target: readTarget(named) }));
  const connections = entries.map(({ target }) => (isTarget(target) ? maxConnectionsOfRun(target) : 0));
  assertOpenFiles(sumOf(connections.toSorted((one, other) => other - one).slice(0, concurrency)));
  const lanes = [...Map.groupBy(entries, ({ named, target }) => (isTarget(target) ? target.baseUrl : named)).values()];
  const judgeEntry = async ({ named, target }: (typeof entries)[number]): Promise<void> => {
    const say = sayOf(named.name);
    const interrupted = judging.signal.aborted ? "Interrupted before anything was sent to it." : null;
    const failed = typeof target === "string" ? target : interrupted;
    if (failed !== null) say(`not judged: ${failed}`);
    const usable = isTarget(target) ? target : null;
    results.set(
      named,
      failed === null
        ? await judgeVendor(named, usable, judging, folderOf(named.name), say)
        : failedVendor(named, usable, failed),
    );
  };
  const work = async (): Promise<void> => {
    for (let lane = lanes.shift(); lane !== undefined; lane = lanes.shift())
      for (const entry of lane) await judgeEntry(entry);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return vendors.flatMap((named) => results.get(named) ?? []);
}

function readTarget(named: ListedVendor): Target | string | null {
  if (named.kind === "report") return null;
  try {
    return named.target();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

const isTarget = (read: Target | string | null): read is Target => typeof read === "object" && read !== null;
