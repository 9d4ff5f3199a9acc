import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";

import { errorCodeOrText } from "../../base/errors.ts";
import { UsageError } from "../../base/usage-error.ts";

/**
 * Writes a file as a whole or not at all.
 *
 * @param mayReplace whether a file that is there may be replaced
 * @throws {UsageError}
 */
export function writeWhole(path: string, text: string, mayReplace: boolean): void {
  if (!mayReplace && existsSync(path))
    throw new UsageError(`${path} has come to be there meanwhile; nothing was written. --force replaces it.`);
  const draft = `${path}.${process.pid}.draft`;
  try {
    writeFileSync(draft, text, { flag: "wx" });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new UsageError(`${path} cannot be written (${errorCodeOrText(error)}). Give another file with --out.`);
  }
}
