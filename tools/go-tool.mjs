// Builds a Go program into .cache, with the versions that its go.mod pins. This file must run on old versions of Node.
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { capture } from "./process.mjs";
import { root } from "./setup.mjs";

/**
 * Returns the path of a built program. The path contains a digest of go.mod and go.sum, so new versions are built anew.
 *
 * @param {string} module folder of the program's go.mod, relative to the root
 * @param {string} name
 */
export function binaryFrom(module, name) {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(join(root, module, file)));
  const executable = process.platform === "win32" ? `${name}.exe` : name;
  return join(root, ".cache", name, hash.digest("hex").slice(0, 16), executable);
}

/**
 * Builds a program if it is missing. Go writes a temporary file, which is renamed after a successful build.
 * @param {string} module folder of the program's go.mod, relative to the root
 * @param {string} name
 * @param {string} goPackage import path of the main package
 * @returns {Promise<string | null>} Go's output if the build failed; `null` if the program exists
 */
export async function buildFrom(module, name, goPackage) {
  const path = binaryFrom(module, name);
  if (existsSync(path)) return null;
  process.stderr.write(`Building ${name} from ${module}/go.mod (the first time) …\n`);
  const fresh = join(dirname(path), `${randomUUID()}.part`);
  mkdirSync(dirname(path), { recursive: true });
  const args = ["build", "-mod=readonly", "-buildvcs=false", "-trimpath", "-o", fresh, goPackage];
  const { code, output } = await capture("go", args, { cwd: join(root, module), env: environment() });
  if (code === 0) renameSync(fresh, path);
  else rmSync(fresh, { force: true });
  return code === 0 ? null : output;
}

/** Without these variables, `go` could download a toolchain, use a go.work file, or call a C compiler. */
function environment() {
  return { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOTOOLCHAIN: process.env.GOTOOLCHAIN ?? "local" };
}
