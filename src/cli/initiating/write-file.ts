import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";

import { reasonOf } from "../../base/errors.ts";
import { UsageProblem } from "../../target/problem.ts";

/**
 * Writes a file as a whole or not at all.
 *
 * @param mayReplace whether a file that is there may be replaced
 * @throws {UsageProblem}
 */
export function writeWhole(path: string, text: string, mayReplace: boolean): void {
  if (!mayReplace && existsSync(path))
    throw new UsageProblem(`${path} has come to be there meanwhile; nothing was written. --force replaces it.`);
  const draft = `${path}.${process.pid}.draft`;
  try {
    writeFileSync(draft, text, { flag: "wx" });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new UsageProblem(`${path} cannot be written (${reasonOf(error)}). Give another file with --out.`);
  }
}
