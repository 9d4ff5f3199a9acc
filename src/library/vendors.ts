import { findEngines } from "../app/load/engines.ts";
import { defaultLoadParameters } from "../app/load/load-parameters.ts";
import { defaultConcurrency } from "../app/vendors/judge-vendor.ts";
import { judgeVendors } from "../app/vendors/judge-vendors.ts";
import type { ListedVendor } from "../app/vendors/vendors-file.ts";
import type { VendorComparison } from "../report/vendors/comparison.ts";
import { type LoadChoice, toLoadParameters } from "./load.ts";
import { UsageProblem } from "./errors.ts";
import { type JudgeScope, scopeOf } from "./scope.ts";
import { type EmbeddedTarget, resolveTarget, type TargetDescription } from "./target.ts";
import { line } from "../base/line.ts";

/** A deployment to judge, or the folder of a saved report. A saved report of a load may be given as well. */
export type VendorDescription =
  | Exclude<TargetDescription, EmbeddedTarget>
  | { readonly report: string; readonly load?: string };

/** Options of the comparison. They apply to every vendor. */
export interface VendorsOptions extends JudgeScope {
  /** Folder for `vendors.json`, with a subfolder for the report of each vendor. */
  readonly folder: string;
  /** Maximum number of concurrent runs. Default: 12. */
  readonly concurrency?: number;
  /** Load to send to each target after the runs, to one target at a time. Default: none. */
  readonly load?: LoadChoice;
  /** Ends the runs early. The evidence so far is judged. */
  readonly signal?: AbortSignal;
}

/**
 * Judges several deployments concurrently and compares them, as `conformance vendors` does. If one fails, the others
 * continue, and its column says why.
 *
 * @param vendors by their names, in the order of the columns
 * @throws {UsageProblem} if an option cannot be used; nothing was sent then.
 */
export async function vendors(
  described: Readonly<Record<string, VendorDescription>>,
  options: VendorsOptions,
): Promise<VendorComparison> {
  const { folder, concurrency = defaultConcurrency, load, signal = new AbortController().signal, ...scope } = options;
  const parameters = load === undefined ? null : { ...defaultLoadParameters, ...toLoadParameters(load) };
  const { sideBySide } = await judgeVendors({
    vendors: Object.entries(described).map(([name, description]) => namedVendor(name, description)),
    judging: { ...scopeOf(scope), signal },
    concurrency,
    load:
      parameters === null
        ? null
        : { parameters, engines: await findEngines(), planned() {}, agree: () => load?.isAgreed === true },
    folder,
    sayOf: () => () => {},
  });
  return sideBySide;
}

function namedVendor(name: string, description: VendorDescription): ListedVendor {
  if ("report" in description)
    return { kind: "report", name, report: description.report, load: description.load ?? null };
  return {
    kind: "target",
    name,
    target: () => {
      const { target } = resolveTarget(description);
      if (target === null)
        throw new UsageProblem(line`The embedded server cannot be a vendor: start one with startServer().`);
      return target;
    },
    load: null,
  };
}
