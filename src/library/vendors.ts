import { findEngines } from "../app/load/engines.ts";
import { defaultLoadParameters } from "../app/load/load-parameters.ts";
import { defaultConcurrency } from "../app/vendors/judge-vendor.ts";
import { judgeVendors } from "../app/vendors/judge-vendors.ts";
import type { NamedVendor } from "../app/vendors/vendors-file.ts";
import type { VendorComparison } from "../report/vendors/comparison.ts";
import { type LoadChoice, toLoadParameters } from "./load.ts";
import { UsageProblem } from "./errors.ts";
import { type JudgeScope, scopeOf } from "./scope.ts";
import { type EmbeddedTarget, resolveTarget, type TargetDescription } from "./target.ts";

/** A deployment that is judged now, or the folder of a report that was kept of one, and perhaps that of a load run. */
export type VendorDescription =
  | Exclude<TargetDescription, EmbeddedTarget>
  | { readonly report: string; readonly load?: string };

/** How every vendor is judged: the same for all. */
export interface VendorsOptions extends JudgeScope {
  /** Folder for a report of each, in a folder of its own, and `vendors.json`. */
  readonly folder: string;
  /** So many runs at once. Default 12. */
  readonly concurrency?: number;
  /** Load that each target gets after the runs, one after the other. Default: none. */
  readonly load?: LoadChoice;
  /** Ends the runs early; what was seen so far is judged. */
  readonly signal?: AbortSignal;
}

/**
 * Judges several deployments at the same time and puts them side by side, as `conformance vendors` does. One that fails costs the others
 * nothing: its column says why.
 *
 * @param vendors by their names, in the order of the columns
 * @throws {UsageProblem} where an option cannot be used; nothing was sent then.
 */
export async function vendors(
  described: Readonly<Record<string, VendorDescription>>,
  options: VendorsOptions,
): Promise<VendorComparison> {
  const { folder, concurrency = defaultConcurrency, load, signal = new AbortController().signal, ...scope } = options;
  const wish = load === undefined ? null : { ...defaultLoadParameters, ...toLoadParameters(load) };
  const { sideBySide } = await judgeVendors({
    vendors: Object.entries(described).map(([name, description]) => namedVendor(name, description)),
    judging: { ...scopeOf(scope), signal },
    concurrency,
    load:
      wish === null ? null : { wish, engines: await findEngines(), planned() {}, agree: () => load?.isAgreed === true },
    folder,
    sayOf: () => () => {},
  });
  return sideBySide;
}

function namedVendor(name: string, description: VendorDescription): NamedVendor {
  if ("report" in description)
    return { kind: "report", name, report: description.report, load: description.load ?? null };
  return {
    kind: "target",
    name,
    target: () => {
      const { target } = resolveTarget(description);
      if (target === null) throw new UsageProblem("The embedded server is no vendor: start one with startServer().");
      return target;
    },
    load: null,
  };
}
