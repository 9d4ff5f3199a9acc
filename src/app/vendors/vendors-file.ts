import { dirname, resolve } from "node:path";

import { z } from "zod";

import { parseAs } from "../../base/parsing.ts";
import { parseJsonFile, readTextFile } from "../../base/read-file.ts";
import { readTargetFile, targetFromObject } from "../../target/target-file.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { Target } from "../../target/target.ts";
import { vendorsSchemaWith } from "../../report/vendors/vendor.ts";

/** An entry of a vendors file: a target or a saved report. `target()` reads the target. */
export type ListedVendor =
  | { readonly kind: "target"; readonly name: string; readonly target: () => Target; readonly load: string | null }
  | { readonly kind: "report"; readonly name: string; readonly report: string; readonly load: string | null };

/** Accepts any object as a target. `target()` checks the object later, so an error affects only one vendor. */
const vendorsSchema = vendorsSchemaWith(z.record(z.string(), z.unknown()));

/** Reads a vendors file. Paths are relative to it. A wrong target throws only when `target()` is called. */
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
