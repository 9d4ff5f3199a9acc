// Builds k6 from the module that k6/go.mod pins, if Go is installed.
import { existsSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { binaryFrom, buildFrom } from "./go-tool.mjs";
import { capture } from "./process.mjs";
import { reportSetupError, root, SetupError } from "./setup.mjs";

/** Returns the path of the k6 that this script builds. `src/load/engines/k6/binary.ts` computes the same path. */
export function builtBinary() {
  return binaryFrom("k6", "k6");
}

/**
 * Makes sure that k6 is available: K6_BINARY, `k6` v2 on PATH, or otherwise a k6 that this script builds.
 *
 * @returns {Promise<SetupError | null>} the problem; `null` if k6 is ready
 */
export async function prepareK6() {
  if (process.env.K6_BINARY || existsSync(builtBinary()) || (await isOnPath())) return null;
  const go = await capture("go", ["version"], { cwd: root });
  if (go.code !== 0)
    return new SetupError(
      "There is no k6 and no Go to build it with: install k6 v2, or Go 1.25 or newer, or set K6_BINARY to an executable of k6 v2.",
    );
  return build();
}

async function isOnPath() {
  const { code, output } = await capture("k6", ["version"], { cwd: root });
  return code === 0 && /^k6(\.exe)? v2\./m.test(output);
}

async function build() {
  const output = await buildFrom("k6", "k6", "go.k6.io/k6/v2");
  return output === null
    ? null
    : new SetupError(
        "k6 could not be built: Go's output above says why. Where its module proxy cannot be reached, install k6 v2 instead, or set K6_BINARY.",
        output,
      );
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const problem = await prepareK6();
  if (problem !== null) {
    reportSetupError(problem);
    process.exitCode = 2;
  }
}
