import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The top folder of the project. */
export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

/** Below the project, so that what is started from there finds its packages. */
const cache = join(projectRoot, ".cache");
let folder: string | null = null;
let files = 0;

/** The folder of this process for what goes write; it goes with the process. */
export function scratchFolder(): string {
  if (folder !== null) return folder;
  mkdirSync(cache, { recursive: true });
  const made = mkdtempSync(join(cache, "bench-"));
  process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  folder = made;
  return made;
}

/** A path of its own, where nothing is yet. */
export function scratchFile(name: string, ending: string): string {
  files += 1;
  return join(scratchFolder(), `${name}-${files}.${ending}`);
}

let installed: string | null = null;

/** The package as a user has it: without the tools of a checkout, which would look at every start whether it is built. */
export function installedPackage(): string {
  if (installed !== null) return installed;
  const made = join(scratchFolder(), "package");
  mkdirSync(join(made, "bin"), { recursive: true });
  copyFileSync(join(projectRoot, "bin", "conformance.js"), join(made, "bin", "conformance.js"));
  copyFileSync(join(projectRoot, "package.json"), join(made, "package.json"));
  for (const name of ["dist", "node_modules", "k6", "scenarios", "schemas", "src"])
    symlinkSync(join(projectRoot, name), join(made, name));
  installed = made;
  return made;
}
