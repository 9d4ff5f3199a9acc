import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const projectRoot = fileURLToPath(new URL("../..", import.meta.url));

/** Folder of temporary files. It is inside the project, so that scripts in this folder find the project's packages. */
const cacheFolder = join(projectRoot, ".cache");
let folder: string | null = null;
let files = 0;

function scratchFolder(): string {
  if (folder !== null) return folder;
  mkdirSync(cacheFolder, { recursive: true });
  const created = mkdtempSync(join(cacheFolder, "bench-"));
  process.once("exit", () => rmSync(created, { recursive: true, force: true }));
  folder = created;
  return created;
}

export function scratchFile(name: string, ending: string): string {
  files += 1;
  return join(scratchFolder(), `${name}-${files}.${ending}`);
}

let installed: string | null = null;

/**
 * Returns a folder that looks like an installed copy of this package. Commands start faster there, because a source
 * checkout first checks its set-up.
 */
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
