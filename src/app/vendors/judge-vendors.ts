import { assertScenariosAndEngine, type LoadParameters, type LoadPreview } from "../load/plan-load.ts";
import { compareVendors, type VendorComparison } from "../../report/vendors/comparison.ts";
import { line, UsageError } from "../../base/line.ts";
import { warnOfUnwrittenFiles, writeFiles } from "../report-folder/write-files.ts";
import {
  type ConcurrentJudging,
  judgeConcurrently,
  foldersOf,
  type VendorOutcome,
  type PrintLine,
} from "./judge-vendor.ts";
import { formatDuration } from "../../base/duration.ts";
import type { AvailableEngines } from "../load/available-engines.ts";
import { describeInvalidTrials } from "../../report/model/load-results.ts";
import {
  type LoadEvents,
  silentLoadEvents,
  requestsLeft,
  type NotSent,
  sendLoad,
  type SendLoadOptions,
} from "../load/send-load.ts";
import { describeNotSent } from "../load/not-sent-reason.ts";
import type { RedactedLoad } from "../load/save-load.ts";
import type { VendorWithReport } from "../../report/vendors/vendor.ts";

interface JudgeVendorsOptions extends Omit<ConcurrentJudging, "folderOf"> {
  readonly load: VendorsLoad | null;
  /**
   * Name of the vendor to compare with all others. With `null`, up to four judged vendors are compared in pairs. If
   * there are more, only the first is compared with all others.
   */
  readonly from: string | null;
  readonly folder: string;
}

export interface JudgedVendors {
  readonly judged: readonly VendorOutcome[];
  readonly sideBySide: VendorComparison;
}

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

export const vendorsJson = (all: VendorComparison): string => `${JSON.stringify(all, null, 2)}\n`;

export interface VendorsLoad {
  /** Parameters of the load. `engine` must not be `in turns`: only loads by the same engine are comparable. */
  readonly parameters: Omit<LoadParameters, "maxRequests" | "requirements">;
  readonly engines: AvailableEngines;
  readonly planned: (outlook: LoadPreview) => void;
  readonly agree: (outlook: LoadPreview) => boolean | Promise<boolean>;
}

/** Sends load to the judged targets one after the other, because concurrent loads would disturb each other. */
async function sendVendorLoads(
  judged: readonly VendorOutcome[],
  { parameters, engines, planned, agree }: VendorsLoad,
  { judging, folderOf, sayOf }: Pick<ConcurrentJudging, "judging" | "folderOf" | "sayOf">,
): Promise<VendorOutcome[]> {
  // Each key counts as used until now: the runs of all vendors have just ended, and vendors can share keys.
  const ranUntilMs = performance.now();
  const usedAtMs = new Map<string, number>();
  const done: VendorOutcome[] = [];
  for (const each of judged) {
    const { vendor, target } = each;
    if (vendor.kind === "unjudged" || target === null) {
      done.push(each);
      continue;
    }
    const say = sayOf(vendor.name);
    const options: SendLoadOptions = {
      ...judging,
      ...parameters,
      maxRequests: requestsLeft(judging.maxRequests, vendor.document.report),
      usedAtMs: usedAtMs.get(target.baseUrl) ?? ranUntilMs,
      events: { ...eventsOf(planned, say), problem: judging.onLoss ?? warnOfUnwrittenFiles },
      target,
      engines,
      agree,
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
