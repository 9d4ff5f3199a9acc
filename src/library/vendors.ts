import { findEngines } from "../app/load/available-engines.ts";
import { defaultLoadParameters } from "../app/load/plan-load.ts";
import { defaultConcurrency, type ListedVendor } from "../app/vendors/judge-vendor.ts";
import { judgeVendors } from "../app/vendors/judge-vendors.ts";
import type { VendorComparison } from "../report/vendors/comparison.ts";
import { type LoadChoice, toLoadParameters } from "./load.ts";
import { type JudgeScope, scopeOf } from "./scope.ts";
import { type EmbeddedTarget, resolveTarget, type TargetDescription } from "./target.ts";
import { line, UsageError } from "../base/line.ts";

/** A deployment to judge, or the folder of a saved report on it. `load`: the folder of a saved load report. */
export type VendorDescription =
  | Exclude<TargetDescription, EmbeddedTarget>
  | { readonly report: string; readonly load?: string };

/** Options of {@link vendors}. They apply to every vendor. */
export interface VendorsOptions extends JudgeScope {
  /** Folder for `vendors.json`. Each vendor's report has its own subfolder. */
  readonly folder: string;
  /** Maximum number of concurrent runs. Default: 12. */
  readonly concurrency?: number;
  /** Vendor to compare with all others. Default: every pair; with five vendors or more, only pairs with the first. */
  readonly from?: string;
  /** Load to send to each target in turn, after all runs have ended. Default: none. */
  readonly load?: LoadChoice;
  /** When this signal aborts, the runs end early and judge the evidence so far. */
  readonly signal?: AbortSignal;
}

/** Judges several deployments concurrently and compares them, as `conformance vendors` does. */
export async function vendors(
  described: Readonly<Record<string, VendorDescription>>,
  options: VendorsOptions,
): Promise<VendorComparison> {
  const {
    folder,
    concurrency = defaultConcurrency,
    load,
    from,
    signal = new AbortController().signal,
    ...scope
  } = options;
  const parameters = load === undefined ? null : { ...defaultLoadParameters, ...toLoadParameters(load) };
  const { sideBySide } = await judgeVendors({
    vendors: Object.entries(described).map(([name, description]) => toListedVendor(name, description)),
    judging: { ...scopeOf(scope), signal },
    concurrency,
    from: from ?? null,
    load:
      parameters === null
        ? null
        : { parameters, engines: await findEngines(), planned() {}, agree: () => load?.isAgreed === true },
    folder,
    sayOf: () => () => {},
  });
  return sideBySide;
}

function toListedVendor(name: string, description: VendorDescription): ListedVendor {
  if ("report" in description)
    return { kind: "report", name, report: description.report, load: description.load ?? null };
  return {
    kind: "target",
    name,
    target: () => {
      const { target } = resolveTarget(description);
      if (target === null)
        throw new UsageError(line`The embedded server cannot be a vendor: start one with startServer().`);
      return target;
    },
    load: null,
  };
}
