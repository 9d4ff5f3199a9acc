import type { ReportDocument } from "../../report/model/report.ts";
import { narrowReport } from "../../report/model/requirements.ts";
import { countsIn, type RequirementSet } from "../../spec/requirements.ts";
import { basename, join } from "node:path";

import { formatDuration } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import { sumOf } from "../../base/numbers.ts";
import { assertOpenFiles } from "../../base/open-files.ts";
import { slug } from "../../base/file-names.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { vendorSummary } from "../../report/vendors/comparison.ts";
import { formatClauseCounts } from "../../report/vendors/summary.ts";
import type { Vendor } from "../../report/vendors/vendor.ts";
import type { RunScope } from "../../run/plan/selection.ts";
import type { Target } from "../../target/target.ts";
import { connectionsOfRun, judgeTarget } from "../judge/judge-target.ts";
import type { NotSentReason } from "../load/not-sent-reason.ts";
import { documentOf, readReportDocument } from "../report-folder/read-report-document.ts";
import { saveRun } from "../report-folder/saved-run.ts";
import { warnOfUnwrittenFiles } from "../report-folder/write-files.ts";
import type { ListedVendor } from "./vendors-file.ts";

/** Prints a line about the progress of one vendor. */
export type PrintLine = (text: string) => void;

/** Options that are the same for every vendor. */
export interface VendorJudging extends RunScope {
  readonly signal: AbortSignal;
  /** Called with a sentence if files could not be written. Default: prints a warning. */
  readonly onLoss?: (sentence: string) => void;
}

/** A vendor and its judgement. */
export interface JudgedVendor {
  readonly vendor: Vendor;
  /** The target that was judged. `null` if it was not reached, or a saved report was read instead. */
  readonly target: Target | null;
  /** Whether the harness itself failed, and not the vendor. */
  readonly isHarness: boolean;
  /** Why the requested load was not sent. `null` if it was sent, or no load was requested. */
  readonly noLoad: NotSentReason | null;
}

/**
 * Judges a vendor's target, or reads the vendor's saved report. Errors become part of the result.
 *
 * @param folder folder for the report, which is written at once
 */
export async function judgeVendor(
  named: ListedVendor,
  target: Target | null,
  judging: VendorJudging,
  folder: string,
  say: PrintLine,
): Promise<JudgedVendor> {
  const { name } = named;
  try {
    if (named.kind === "report")
      return { vendor: readSavedVendor(named, judging.requirements), target: null, isHarness: false, noLoad: null };
    if (target === null) throw new Error("the target was not read");
    return { vendor: await runVendor(named, target, judging, folder, say), target, isHarness: false, noLoad: null };
  } catch (error) {
    const isHarness = !(error instanceof UsageError);
    const text = messageOf(error);
    const reason = isHarness ? `The harness itself failed; this is not the target's fault: ${text}` : text;
    say(`not judged: ${reason}`);
    return { vendor: unjudgedVendor(name, target, reason), target: null, isHarness, noLoad: null };
  }
}

export const unjudgedVendor = (name: string, target: Target | null, reason: string): Vendor => ({
  kind: "unjudged",
  name,
  baseUrl: target?.baseUrl ?? null,
  reason,
});

/**
 * Judges a saved report again by the requirement set of the comparison. Keeps a report of an earlier set as it is, which a note in the
 * comparison says.
 */
const judgedBySet = (document: ReportDocument, requirements: RequirementSet): ReportDocument =>
  countsIn(requirements, document.report.suite.requirements)
    ? { ...document, report: narrowReport(document.report, requirements) }
    : document;

function readSavedVendor(
  { name, report, load }: Extract<ListedVendor, { kind: "report" }>,
  requirements: RequirementSet,
): Vendor {
  const document = judgedBySet(readReportDocument(report), requirements);
  if (document.report.load !== undefined)
    throw new UsageError(
      line`${report} is the report of a load run: give it as \`load\`, and the report of a run as \`report\`.`,
    );
  return { kind: "judged", name, document, load: readSavedLoad(load, requirements), isKept: true, notes: [] };
}

/**
 * Reads the saved load report of a vendor; returns `null` without a path.
 *
 * @throws {UsageError} if it is no load report
 */
function readSavedLoad(path: string | null, requirements: RequirementSet) {
  if (path === null) return null;
  const document = readReportDocument(path);
  if (document.report.load === undefined) throw new UsageError(line`${path} is no report of a load run.`);
  return judgedBySet(document, requirements);
}

async function runVendor(
  { name, load }: ListedVendor,
  target: Target,
  judging: VendorJudging,
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
        if (ms > shortWaitMs) say(`waiting ${formatDuration(ms)}: ${why}`);
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

/** Shorter waits are not printed. */
const shortWaitMs = 2000;

/** Returns the report folder of each vendor. The folders differ even if two names look the same. */
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

/** Default number of runs at the same time. Runs spend most of their time waiting, so one core is enough. */
export const defaultConcurrency = 12;

export interface ConcurrentJudging {
  readonly vendors: readonly ListedVendor[];
  readonly judging: VendorJudging;
  /** Maximum number of concurrent runs. */
  readonly concurrency: number;
  readonly folderOf: (name: string) => string;
  readonly sayOf: (name: string) => PrintLine;
}

/** A vendor with its target, or with the reason why the target cannot be used. */
interface Entry {
  readonly named: ListedVendor;
  readonly target: Target | null;
  readonly problem: string | null;
}

/**
 * Judges several vendors at the same time. Vendors at the same address take turns, because runs on one deployment would disturb each other.
 * The failure of one vendor does not affect the others.
 *
 * @throws {HarnessLimit} if this process cannot open as many connections as the runs may need
 */
export async function judgeConcurrently({
  vendors,
  judging,
  concurrency,
  folderOf,
  sayOf,
}: ConcurrentJudging): Promise<JudgedVendor[]> {
  const results = new Map<ListedVendor, JudgedVendor>();
  const entries = vendors.map(entryOf);
  assertOpenFiles(connectionsOfRuns(entries, concurrency));
  const lanes = [...Map.groupBy(entries, ({ named, target }) => target?.baseUrl ?? named).values()];
  const judgeEntry = async ({ named, target, problem }: Entry): Promise<void> => {
    const say = sayOf(named.name);
    const failed = problem ?? (judging.signal.aborted ? "Interrupted before anything was sent to it." : null);
    if (failed !== null) say(`not judged: ${failed}`);
    results.set(
      named,
      failed === null
        ? await judgeVendor(named, target, judging, folderOf(named.name), say)
        : { vendor: unjudgedVendor(named.name, target, failed), target: null, isHarness: false, noLoad: null },
    );
  };
  const work = async (): Promise<void> => {
    for (let lane = lanes.shift(); lane !== undefined; lane = lanes.shift())
      for (const entry of lane) await judgeEntry(entry);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return vendors.flatMap((named) => results.get(named) ?? []);
}

/** Maximum number of connections that all concurrent runs may open together. A saved report needs none. */
function connectionsOfRuns(entries: readonly Entry[], concurrency: number): number {
  const each = entries.map(({ target }) => (target === null ? 0 : connectionsOfRun(target)));
  return sumOf(each.toSorted((one, other) => other - one).slice(0, concurrency));
}

function entryOf(named: ListedVendor): Entry {
  if (named.kind === "report") return { named, target: null, problem: null };
  try {
    return { named, target: named.target(), problem: null };
  } catch (error) {
    if (error instanceof UsageError) return { named, target: null, problem: error.message };
    throw error;
  }
}
