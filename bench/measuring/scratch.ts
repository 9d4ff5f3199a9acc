import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The top folder of the project. */
export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

/** The parent of the temporary folder. It is inside the project, so that processes that start there find the packages of the project. */
const cache = join(projectRoot, ".cache");
let folder: string | null = null;
let files = 0;

/** The temporary folder of this process, deleted at its exit. */
export function scratchFolder(): string {
  if (folder !== null) return folder;
  mkdirSync(cache, { recursive: true });
  const created = mkdtempSync(join(cache, "bench-"));
  process.once("exit", () => rmSync(created, { recursive: true, force: true }));
  folder = created;
  return created;
}

/** A new path in the temporary folder. */
export function scratchFile(name: string, ending: string): string {
  files += 1;
  return join(scratchFolder(), `${name}-${files}.${ending}`);
}

let installed: string | null = null;

/** Returns a folder that looks like the package as users install it. A checkout itself would check at every start whether it is built. */
export function installedPackage(): string {
  if (installed !== null) return installed;
  const created = join(scratchFolder(), "package");
  mkdirSync(join(created, "bin"), { recursive: true });
  copyFileSync(join(projectRoot, "bin", "conformance.js"), join(created, "bin", "conformance.js"));
  copyFileSync(join(projectRoot, "package.json"), join(created, "package.json"));
  for (const name of ["dist", "node_modules", "k6", "scenarios", "schemas", "src"])
    symlinkSync(join(projectRoot, name), join(created, name));
  installed = created;
  return created;
}
