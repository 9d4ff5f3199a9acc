// Builds k6 from the module that k6/go.mod pins, where Go is installed, into the place in which the harness looks for it.
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { capture } from "./process.mjs";
import { reportSetupError, root, SetupError } from "./setup.mjs";

const executable = process.platform === "win32" ? "k6.exe" : "k6";

/** Where it stands once it is built: the folder is named by what it is built from. `src/load/engines/k6/binary.ts` computes the same. */
export function builtBinary() {
  const hash = createHash("sha256");
  for (const name of ["go.mod", "go.sum"]) hash.update(readFileSync(join(root, "k6", name)));
  return join(root, ".cache", "k6", hash.digest("hex").slice(0, 16), executable);
}

/**
 * Makes k6 ready: K6_BINARY and `k6` v2 on PATH come first, then ours, which is built where it is missing.
 *
 * @returns {Promise<SetupError | null>} what is lacking; `null` where k6 is there
 */
export async function prepareK6() {
  const path = builtBinary();
  if (process.env.K6_BINARY || existsSync(path) || (await isOnPath())) return null;
  const go = await capture("go", ["version"], { cwd: root });
  if (go.code !== 0)
    return new SetupError(
      "There is no k6 and no Go to build it with: install k6 v2, or Go 1.25 or newer, or set K6_BINARY to an executable of k6 v2.",
    );
  return build(path);
}

async function isOnPath() {
  const { code, output } = await capture("k6", ["version"], { cwd: root });
  return code === 0 && /^k6(\.exe)? v2\./m.test(output);
}

/** Under a name of its own first: a build that was interrupted must not look like a whole one. */
async function build(path) {
  process.stderr.write(`Building k6 from k6/go.mod (a few minutes, the first time) …\n`);
  const fresh = join(dirname(path), `${randomUUID()}-${executable}`);
  mkdirSync(dirname(path), { recursive: true });
  const args = ["build", "-mod=readonly", "-buildvcs=false", "-trimpath", "-o", fresh, "go.k6.io/k6/v2"];
  const { code, output } = await capture("go", args, { cwd: join(root, "k6"), env: buildEnvironment() });
  if (code === 0) {
    renameSync(fresh, path);
    return null;
  }
  rmSync(fresh, { force: true });
  return new SetupError(
    "k6 could not be built: Go's output above says why. Where its module proxy cannot be reached, install k6 v2 instead, or set K6_BINARY.",
    output,
  );
}

/** The toolchain that is here, and no other one from the network; no C compiler is needed. */
function buildEnvironment() {
  return { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOTOOLCHAIN: process.env.GOTOOLCHAIN ?? "local" };
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const lacking = await prepareK6();
  if (lacking !== null) {
    reportSetupError(lacking);
    process.exitCode = 2;
  }
}
