import { dirname, resolve } from "node:path";

import { z } from "zod";

import { parseAs } from "../../base/parsing.ts";
import { parseJsonFile, readTextFile } from "../../base/read-file.ts";
import { defaultParseContext, readTargetFile, targetFromObject } from "../../target/file.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { Target } from "../../target/target.ts";
import { vendorsSchemaWith } from "../../report/vendors/vendors-schema.ts";

/** A vendor in a vendors file. Its target file is not read yet. */
export type ListedVendor =
  | { readonly kind: "target"; readonly name: string; readonly target: () => Target; readonly load: string | null }
  | { readonly kind: "report"; readonly name: string; readonly report: string; readonly load: string | null };

/** Accepts any object as a target here. Errors in it are found later, and appear in the column of that vendor only. */
const vendorsSchema = vendorsSchemaWith(z.record(z.string(), z.unknown()));

/**
 * Reads a vendors file. Paths in it are relative to its folder.
 *
 * @throws {UsageError} that says where in the file the error is. Errors in a target are thrown only when its `target` function is called.
 */
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
            ...defaultParseContext,
            folder: dirname(file),
          });
    return { kind: "target", name, target: read, load: kept };
  });
}
