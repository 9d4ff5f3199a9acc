import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the checkout, or of the installed package; the built files lie deeper in it than the sources. */
export const packageRoot: string = rootAbove(dirname(fileURLToPath(import.meta.url)));

function rootAbove(folder: string): string {
  if (existsSync(join(folder, "package.json"))) return folder;
  const above = dirname(folder);
  if (above === folder)
    throw new Error("package.json of agent-hosting-conformance is missing: install the package again.");
  return rootAbove(above);
}
