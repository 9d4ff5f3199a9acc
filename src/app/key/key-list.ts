import { line } from "../../base/line.ts";
import { readTextFile } from "../../base/read-file.ts";
import { UsageError } from "../../base/usage-error.ts";
import { createKeyList, parseKeyList } from "../../report/statement/key-list.ts";
import { parsePublicKey } from "../../report/statement/signing-key.ts";

/**
 * Returns the JSON text of a list of public keys, which a vendor publishes. A file may also contain a private key: then
 * its public key is listed.
 *
 * @throws {UsageError} if a file holds no usable key, or a key occurs twice
 */
export function keyListJson(files: readonly string[], vendor: string): string {
  const list = createKeyList(
    vendor,
    files.map((file) => {
      const key = parsePublicKey(readTextFile(file, "The key"));
      if (key.kind === "value") return key.value;
      throw new UsageError(line`The key in ${file} ${key.problem}.`);
    }),
  );
  const checked = parseKeyList(list);
  if (checked.kind === "problem") throw new UsageError(line`The list cannot be made: ${checked.problem}.`);
  return `${JSON.stringify(list, null, 2)}\n`;
}
