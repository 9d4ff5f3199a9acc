import { assertScenariosAndEngine } from "../load/plan-load.ts";
import { compareVendors, type VendorComparison } from "../../report/vendors/comparison.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import { warnOfUnwrittenFiles, writeFiles } from "../report-folder/write-files.ts";
import { type ConcurrentJudging, judgeConcurrently, foldersOf, type JudgedVendor } from "./judge-vendor.ts";
import { sendVendorLoads, type VendorsLoad } from "./load-vendors.ts";

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
