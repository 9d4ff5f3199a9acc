import { performance } from "node:perf_hooks";

import { assertScenariosAndEngine, type LoadParameters, type LoadPreview } from "../load/plan-load.ts";
import { compareVendors, type VendorComparison } from "../../report/vendors/comparison.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { warnOfUnwrittenFiles, writeFiles } from "../report-folder/write-files.ts";
import {
  type ConcurrentJudging,
  judgeConcurrently,
  foldersOf,
  type JudgedVendor,
  type PrintLine,
  type VendorsRunOptions,
} from "./judge-vendor.ts";
import { formatDuration } from "../../base/duration.ts";
import type { AvailableEngines } from "../load/available-engines.ts";
import { describeInvalidTrials } from "../load/describe-invalid-trials.ts";
import { type LoadEvents, silentLoadEvents, type NotSent, sendLoad, type SendLoadOptions } from "../load/send-load.ts";
import { describeNotSent } from "../load/not-sent-reason.ts";
import type { RedactedLoad } from "../load/save-load.ts";
import type { VendorWithReport } from "../../report/vendors/vendor.ts";

export interface JudgeVendorsOptions extends Omit<ConcurrentJudging, "folderOf"> {
  /** The load to send to each vendor; `null` for none. */
  readonly load: VendorsLoad | null;
  /** Name of the vendor whose differences from each other one are listed; `null` for every pair. */
  readonly from: string | null;
  /** Folder for `vendors.json`. Each vendor's report has its own folder below it. */
  readonly folder: string;
}

/** The results of all vendors and their comparison, without secrets. */
export interface JudgedVendors {
  readonly judged: readonly JudgedVendor[];
  readonly sideBySide: VendorComparison;
}

/**
 * Judges several deployments concurrently, then sends the requested load to one after the other, and compares all
 * results. The failure of one deployment does not affect the others.
 *
 * @throws {UsageError} if `from` names none of the vendors; nothing was sent then
 * @throws {UnsendableLoadError} if the load cannot be sent to any target; nothing was sent then
 */
export async function judgeVendors(options: JudgeVendorsOptions): Promise<JudgedVendors> {
  const { vendors, load, folder, from } = options;
  if (from !== null && !vendors.some(({ name }) => name === from))
    throw new UsageError(
      line`No vendor is named ${JSON.stringify(from)}. The file has ${vendors.map(({ name }) => name).join(", ")}.`,
    );
  if (load !== null) assertScenariosAndEngine(load.parameters, true, load.engines);
  const folders = foldersOf(
    vendors.map(({ name }) => name),
    folder,
  );
  const parts = { ...options, folderOf: (name: string): string => folders.get(name) ?? folder };
  const run = await judgeConcurrently(parts);
  const judged = load === null ? run : await sendVendorLoads(run, load, parts);
  const all = compareVendors(
    judged.map(({ vendor }) => vendor),
    new Date().toISOString(),
    from,
  );
  const { problem } = writeFiles(folder, { "vendors.json": vendorsJson(all) });
  if (problem !== null) (options.judging.onLoss ?? warnOfUnwrittenFiles)(problem);
  return { judged, sideBySide: all };
}

/** Returns the content of `vendors.json`: the comparison of all vendors. */
export const vendorsJson = (all: VendorComparison): string => `${JSON.stringify(all, null, 2)}\n`;

/** The load to send to every vendor. */
export interface VendorsLoad {
  /** Parameters of the load. `engine` must not be `in turns`, because only loads of the same engine can be compared. */
  readonly parameters: Omit<LoadParameters, "maxRequests" | "requirements">;
  readonly engines: AvailableEngines;
  /** Called with the preview of a vendor's load before it is sent. */
  readonly planned: (outlook: LoadPreview) => void;
  /** Returns whether the user agrees to the load. Called only for a target that is not on loopback. */
  readonly agree: (outlook: LoadPreview) => boolean | Promise<boolean>;
}

/**
 * Sends load to the judged targets one after the other, because concurrent loads would disturb each other. A target without load stays in
 * the comparison, with a note.
 */
export async function sendVendorLoads(
  judged: readonly JudgedVendor[],
  { parameters, engines, planned, agree }: VendorsLoad,
  { judging, folderOf, sayOf }: Pick<ConcurrentJudging, "judging" | "folderOf" | "sayOf">,
): Promise<JudgedVendor[]> {
  // All keys count as used until now, because the runs have used them, and vendors may share keys. The load pauses
  // until their rate-limit windows have passed.
  const ranUntilMs = performance.now();
  const usedAtMs = new Map<string, number>();
  const done: JudgedVendor[] = [];
  for (const each of judged) {
    const { vendor, target } = each;
    if (vendor.kind === "unjudged" || target === null) {
      done.push(each);
      continue;
    }
    const say = sayOf(vendor.name);
    const { readOnly, requirements, messages, signal } = judging;
    const options: SendLoadOptions = {
      ...parameters,
      maxRequests: requestsLeft(vendor, judging),
      usedAtMs: usedAtMs.get(target.baseUrl) ?? ranUntilMs,
      events: { ...eventsOf(planned, say), problem: judging.onLoss ?? warnOfUnwrittenFiles },
      target,
      engines,
      readOnly,
      requirements,
      messages: messages,
      agree,
      signal,
    };
    const sent = await sendLoad(options, `${folderOf(vendor.name)}-load`);
    usedAtMs.set(target.baseUrl, performance.now());
    done.push(
      sent.kind === "sent"
        ? { ...each, vendor: withLoadReport(vendor, sent) }
        : { ...each, vendor: notLoaded(vendor, sent, say), noLoad: sent.why },
    );
  }
  return done;
}

/** Returns how many requests the load of a vendor may send: `maxRequests` minus the requests of its run. */
const requestsLeft = ({ document }: VendorWithReport, { maxRequests }: VendorsRunOptions): number =>
  maxRequests === null ? Number.POSITIVE_INFINITY : Math.max(0, maxRequests - document.report.requests);

function withLoadReport(vendor: VendorWithReport, { document }: RedactedLoad): VendorWithReport {
  const invalid = describeInvalidTrials(document.report);
  return { ...vendor, load: document, notes: [...vendor.notes, ...(invalid === null ? [] : [`Load: ${invalid}`])] };
}

function notLoaded(vendor: VendorWithReport, { why }: NotSent, say: PrintLine): VendorWithReport {
  const text = describeNotSent(why);
  say(`no load: ${text}`);
  return { ...vendor, notes: [...vendor.notes, `No load was sent: ${text}`] };
}

const eventsOf = (planned: VendorsLoad["planned"], say: PrintLine): LoadEvents => ({
  ...silentLoadEvents,
  planned,
  trial: ({ scenario, tier, engine }) => say(`load: ${scenario.name}, ${tier}, ${engine}`),
  waiting: (ms, why) => say(`waiting ${formatDuration(ms)}: ${why}`),
});
