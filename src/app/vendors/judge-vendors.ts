import { assertScenariosAndEngine } from "../load/plan-load.ts";
import { compareVendors, type VendorComparison } from "../../report/vendors/comparison.ts";
import { writeFiles } from "../report-folder/write-files.ts";
import { type ConcurrentJudging, judgeConcurrently } from "./judge-concurrently.ts";
import { foldersOf, type JudgedVendor } from "./judge-vendor.ts";
import { loadVendors, type VendorsLoad } from "./load-vendors.ts";

export interface JudgeVendorsOptions extends Omit<ConcurrentJudging, "folderOf"> {
  /** `null`: no load. */
  readonly load: VendorsLoad | null;
  /** Where a report of each is written, in a folder of its own, and `vendors.json`. */
  readonly folder: string;
}

/** Vendors as they were judged, and side by side. Nothing in it is secret. */
export interface JudgedVendors {
  readonly judged: readonly JudgedVendor[];
  readonly sideBySide: VendorComparison;
  /** What could not be written, in one sentence; `null` where all was. */
  readonly problem: string | null;
}

/**
 * Judges deployments at the same time, loads them one after the other where that is wanted, and puts them side by side. One that fails costs
 * the others nothing.
 *
 * @throws {LoadProblem} where the load that is wanted cannot be sent to any target; nothing was sent then
 */
export async function judgeVendors(options: JudgeVendorsOptions): Promise<JudgedVendors> {
  const { vendors, load, folder } = options;
  if (load !== null) assertScenariosAndEngine(load.wish, true, load.engines);
  const folders = foldersOf(
    vendors.map(({ name }) => name),
    folder,
  );
  const parts = { ...options, folderOf: (name: string): string => folders.get(name) ?? folder };
  const run = await judgeConcurrently(parts);
  const judged = load === null ? run : await loadVendors(run, load, parts);
  const all = compareVendors(
    judged.map(({ vendor }) => vendor),
    new Date().toISOString(),
  );
  const { problem } = writeFiles(folder, { "vendors.json": sideBySideJson(all) });
  return { judged, sideBySide: all, problem };
}

/** `vendors.json` */
export const sideBySideJson = (all: VendorComparison): string => `${JSON.stringify(all, null, 2)}\n`;
