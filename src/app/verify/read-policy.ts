import { dirname, resolve } from "node:path";

import { line } from "../../base/line.ts";
import { parseAs } from "../../base/parsing.ts";
import { readTextFile } from "../../base/read-file.ts";
import { notationOf, parseSource } from "../../base/source/source.ts";
import { UsageError } from "../../base/usage-error.ts";
import { type Policy, policySchema } from "../../report/statement/policy-schema.ts";

/**
 * Reads a buyer's policy, in JSON or YAML. Relative paths in it start at its own folder.
 *
 * @throws {UsageError} with the place of the error in the file
 */
export function readPolicy(file: string): Policy {
  const notation = notationOf(file);
  if (notation === null)
    throw new UsageError(line`${file} ends in none of .json, .yaml and .yml, so its notation is not known.`);
  const source = parseSource(readTextFile(file, "The policy"), notation);
  if (source.kind === "problem")
    throw new UsageError(line`${file}:${source.place.line}:${source.place.column}: the policy ${source.problem}.`);
  const parsed = parseAs(source.value, policySchema);
  if (parsed.kind === "problem") throw new UsageError(line`${file} is not a policy: ${parsed.problem}.`);
  const { signers, ...others } = parsed.value;
  if (signers === undefined) return others;
  return {
    ...others,
    signers: signers.map((signer) =>
      signer.keys === undefined || signer.keys.includes("://")
        ? signer
        : { ...signer, keys: resolve(dirname(file), signer.keys) },
    ),
  };
}
